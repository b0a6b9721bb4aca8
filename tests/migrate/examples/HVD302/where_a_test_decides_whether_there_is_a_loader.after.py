import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

dataset = Digits(
    "data",
)
sampler = DistributedSampler(dataset, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
data_loader = DataLoader(
    dataset,
    batch_size=8,
    sampler=sampler,
)
more = DataLoader(extra, sampler=DistributedSampler(extra, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False)) if extra is not None else None
for x in data_loader:
    model(x).sum().backward()
    optimizer.step()
for x in more or ():
    model(x).sum().backward()
