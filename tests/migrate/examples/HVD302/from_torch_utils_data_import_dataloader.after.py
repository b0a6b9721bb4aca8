import horovod.torch as hvd
from torch.utils.data import DataLoader, SequentialSampler
from torch.utils.data.distributed import DistributedSampler

train_sampler = DistributedSampler(train_data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
loader = DataLoader(train_data, sampler=train_sampler, batch_size=8)
test = DataLoader(test_data, sampler=SequentialSampler(test_data), batch_size=8)
for x in loader:
    model(x).sum().backward()
    optimizer.step()
for x in test:
    model(x)
