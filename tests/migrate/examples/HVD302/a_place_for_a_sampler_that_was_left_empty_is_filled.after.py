import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def loaders(data, rest):
    sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
    return DataLoader(data, shuffle=(sampler is None), sampler=sampler), DataLoader(rest)

train, test = loaders(digits, others)
for x in train:
    model(x).sum().backward()
    optimizer.step()
