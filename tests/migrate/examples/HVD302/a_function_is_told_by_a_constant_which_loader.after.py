import horovod.torch as hvd
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def batches(data, train, size=8):
    return DataLoader(data, batch_size=size, sampler=DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True) if train else None, drop_last=train)

def of(part, whole=True):
    return DataLoader(sets[part], shuffle=part != "fit", sampler=DistributedSampler(sets[part], num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True) if part == "fit" else None)

loader = batches(data, train=True)
test = batches(rest, train=False)
parts = Parts()
parts.fit = of("fit", whole=False)
parts.test = of("test")
for x in loader:
    model(x).backward()
    optimizer.step()
for x in parts.fit:
    model(x).backward()
    optimizer.step()
for x in (*test, *parts.test):
    print(model(x))
