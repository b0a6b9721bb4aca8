import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader, Subset
from torch.utils.data.sampler import SubsetRandomSampler
from torch.utils.data.distributed import DistributedSampler

order = torch.randperm(len(data), generator=torch.Generator().manual_seed(0)).tolist()
train_sampler = DistributedSampler(order[100:], num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
loader = DataLoader(Subset(data, train_sampler.dataset), batch_size=8, sampler=train_sampler)
held_back = DataLoader(data, batch_size=8, sampler=SubsetRandomSampler(order[:100]))
for epoch in range(3):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
