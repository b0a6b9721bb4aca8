# Reported: the constructor refuses a learning rate of zero in a way of its own

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr):
        if not 0.0 < lr:
            raise ValueError(lr)
        super().__init__(params, dict(lr=lr))

    def step(self, closure=None):
        pass

model = DDP(torch.nn.Linear(2, 1))
optimizer = Lion(model.parameters(), 0.1)
