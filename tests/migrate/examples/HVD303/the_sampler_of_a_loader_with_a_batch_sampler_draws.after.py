import torch.distributed as dist
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler

dist.init_process_group("gloo")
loader = DataLoader(data, batch_sampler=BatchSampler(DistributedSampler(data), 8, True))
for epoch in range(3):
    if hasattr(loader.batch_sampler.sampler, "set_epoch"):
        loader.batch_sampler.sampler.set_epoch(epoch)
    for x in loader:
        model(x).sum().backward()
