import horovod.torch as hvd
import torch
from torch.utils.data.distributed import DistributedSampler

class Trainer:
    def __init__(self):
        dataset = Digits("data")
        sampler = DistributedSampler(dataset, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=self.train)
        self.loader = torch.utils.data.DataLoader(dataset, batch_size=8, sampler=sampler)

    def batches(self):
        for x in self.loader:
            yield x

    def fit(self):
        for i, x in enumerate(self.batches()):
            model(x).sum().backward()
            optimizer.step()

Trainer().fit()
