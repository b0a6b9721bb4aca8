import horovod.torch as hvd
from torch.utils.data import DataLoader, DistributedSampler

hvd.init()
epochs = 3
sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
loader = DataLoader(data, sampler=sampler)
for epoch in range(epochs):
    sampler.set_epoch(epoch)
    for x in loader:
        model(x).sum().backward()
