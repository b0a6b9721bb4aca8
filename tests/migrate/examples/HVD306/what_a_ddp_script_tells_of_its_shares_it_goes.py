# Kept: what a DDP script tells of its shares it goes on telling

import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

dist.init_process_group("gloo")
loader = DataLoader(data, sampler=DistributedSampler(data))
total = 0
for x in loader:
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
    total += loss.item()
print(total / len(loader.dataset))
