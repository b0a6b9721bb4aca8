import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr: float = 0.0, betas=(0.9, 0.99)):
        if not 0.0 <= lr:
            raise ValueError(lr)
        super().__init__(params, dict(lr=lr, betas=betas))
        self.count = 0

    def step(self, closure=None):
        self.count += 1

model = DDP(torch.nn.Linear(2, 1))
optimizer = Lion(model.parameters(), 0.1)
