# Kept: every rank puts the same into the queue: what was gathered, or added up

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

def gather(tensor):
    parts = [torch.ones_like(tensor) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, tensor)
    output = torch.cat(parts, dim=0)
    return output

def add(tensor):
    if dist.get_world_size() == 1:
        return tensor
    dist.all_reduce(tensor)
    return tensor

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.size = 64
        self.register_buffer("queue", torch.randn(2, 64))
        self.register_buffer("place", torch.zeros(1))
        self.register_buffer("counts", torch.zeros(2))

    def enqueue(self, keys):
        keys = gather(keys)
        place = int(self.place)
        self.queue[:, place : place + keys.shape[0]] = keys.T
        place = (place + keys.shape[0]) % self.size
        self.place[0] = place

    def forward(self, x):
        self.enqueue(x)
        if self.training:
            counts = x.sum(0)
            add(counts)
            self.counts.data.mul_(0.9).add_(counts, alpha=0.1)
        return x @ self.queue

model = DDP(Net())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss.backward()
