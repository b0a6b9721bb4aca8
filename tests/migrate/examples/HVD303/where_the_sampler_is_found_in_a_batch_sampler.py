# Reported: where the sampler is found in a batch sampler of one's own is not known

import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

class InGroups:
    def __init__(self, sampler):
        self.within = sampler

dist.init_process_group("gloo")
loader = DataLoader(data, batch_sampler=InGroups(DistributedSampler(data)))
for epoch in range(3):
    for x in loader:
        model(x).sum().backward()
