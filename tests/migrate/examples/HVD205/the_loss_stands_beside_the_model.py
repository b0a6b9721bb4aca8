# Kept: the loss stands beside the model, and DDP sent nothing of it

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Loss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("center", torch.zeros(1))

    def forward(self, x):
        self.center = self.center * 0.9 + x.mean() * 0.1
        return x - self.center

loss = Loss()
model = DDP(torch.nn.Linear(2, 1))
loss(model(x)).sum().backward()
