import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

if options["dist"]:
    dist.init_process_group("nccl")
    loader = DataLoader(data, sampler=DistributedSampler(data))
else:
    loader = DataLoader(data, shuffle=True, batch_sampler=batches)
for epoch in range(3):
    if hasattr(loader.sampler, "set_epoch"):
        loader.sampler.set_epoch(epoch)
    for x in loader:
        model(x).sum().backward()
