# Kept: rank 0 writes, or each rank its own file; nobody is known to call export()

import horovod.torch as hvd
import torch

def save():
    torch.save(model.state_dict(), "model.pt")

def export():
    torch.save(model.state_dict(), "export.pt")

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
torch.save(state, f"rng-{hvd.rank()}.pt")
if hvd.rank() == 0:
    save()
