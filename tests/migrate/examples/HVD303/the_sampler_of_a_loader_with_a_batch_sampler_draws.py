# Changed: The sampler of a loader with a batch sampler draws nothing, and has no set_epoch.
# Options: --suggested

import torch.distributed as dist
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler

dist.init_process_group("gloo")
loader = DataLoader(data, batch_sampler=BatchSampler(DistributedSampler(data), 8, True))
for epoch in range(3):
    for x in loader:
        model(x).sum().backward()
