# Changed: The loader of the other branch has no such sampler.
# Options: --suggested

import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

if options["dist"]:
    dist.init_process_group("nccl")
    loader = DataLoader(data, sampler=DistributedSampler(data))
else:
    loader = DataLoader(data, shuffle=True, batch_sampler=batches)
for epoch in range(3):
    for x in loader:
        model(x).sum().backward()
