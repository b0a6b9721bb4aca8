# Reported: the ranks draw other weights after the broadcast

import horovod.torch as hvd
import torch

hvd.init()
model = torch.nn.Linear(1, 1)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
torch.nn.init.normal_(model.weight)
for x in batches:
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
