# Reported: part of what goes into the queue is each rank's own

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("queue", torch.randn(2, 64))

    def forward(self, x):
        parts = [torch.ones_like(x) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, x)
        keys = torch.cat(parts)
        keys[0] = x[0]
        self.queue[:, : keys.shape[0]] = keys.T
        return x

model = DDP(Net())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss.backward()
