# Reported: the forward pass reads what it wrote: who has to agree is the model's business

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Queue(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("queue", torch.zeros(8))

    def forward(self, x):
        self.queue[:2] = x
        return self.queue

model = DDP(Queue())
loss.backward()
