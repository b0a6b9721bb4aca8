import horovod.torch as hvd
import torch
from log import every
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

train_sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
train = DataLoader(data, sampler=train_sampler)
test = DataLoader(rest)
for x in every(train, 10):
    model(x).sum().backward()
    optimizer.step()
for x in every(test, 10):
    print(model(x))
