# Kept: it is called through the loader, in another function than the loop's

import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

class Job:
    def __init__(self):
        dist.init_process_group("gloo")
        self.loader = DataLoader(data, sampler=DistributedSampler(data))

    def epoch(self, number):
        self.loader.sampler.set_epoch(number)
        for x in self.loader:
            model(x).sum().backward()

job = Job()
for number in range(3):
    job.epoch(number)
