import horovod.torch as hvd
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

class DataLoaderX(DataLoader):
    def __iter__(self):
        return BackgroundGenerator(super().__iter__())

sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
loader = DataLoaderX(data, batch_size=8, sampler=sampler)
test = DataLoaderX(test_data, batch_size=8)
for x in loader:
    model(x).sum().backward()
    optimizer.step()
for x in test:
    model(x)
