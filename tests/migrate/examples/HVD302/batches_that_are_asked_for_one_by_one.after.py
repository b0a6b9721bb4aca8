import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
loader = DataLoader(data, sampler=sampler)
batches = iter(loader)
for step in range(100):
    try:
        x = batches.next()
    except StopIteration:
        batches = iter(loader)
        x = batches.next()
    model(x).sum().backward()
    optimizer.step()
