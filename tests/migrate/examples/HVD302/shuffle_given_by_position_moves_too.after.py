import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
loader = DataLoader(data, 8, sampler=sampler, num_workers=2)
for x in loader:
    model(x).sum().backward()
    optimizer.step()
