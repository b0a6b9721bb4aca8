# Reported: rank 0 has a rate of its own

import horovod.torch as hvd
import torch

hvd.init()
model = torch.nn.Linear(1, 1)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
if hvd.rank() == 0:
    optimizer.param_groups[0]["lr"] = 0.01
for x in batches:
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
