# Reported: the optimizer that steps was made after the wrapping

import horovod.torch as hvd
import torch

hvd.init()
model = torch.nn.Linear(1, 1)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
optimizer = torch.optim.Adam(model.parameters())
for x in batches:
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
