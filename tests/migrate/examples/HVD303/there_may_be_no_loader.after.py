import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

def train(loader):
    for x in loader:
        model(x).sum().backward()

dist.init_process_group("gloo")
extra = DataLoader(more, sampler=DistributedSampler(more)) if more else None
for epoch in range(3):
    if extra is not None:
        extra.sampler.set_epoch(epoch)
    if extra:
        train(extra)
