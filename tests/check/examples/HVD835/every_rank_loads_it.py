# Kept: every rank loads it

import horovod.torch as hvd
import torch

hvd.init()
model = torch.nn.Linear(2, 2)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
model.load_state_dict(torch.load("checkpoint"))
