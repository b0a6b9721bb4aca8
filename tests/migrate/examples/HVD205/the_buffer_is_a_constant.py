# Kept: the buffer is a constant, which only the constructor fills

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Positions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.empty(8))
        self.table[0] = 1
        self.fill()

    def fill(self):
        self.table.copy_(torch.arange(8))

    def forward(self, x):
        return x + self.table.float()

model = DDP(Positions())
loss.backward()
