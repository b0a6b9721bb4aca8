import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def frequencies(loader):
    counts = torch.zeros(10)
    # hvdkit: TODO[HVD302] compute this from a separate loader over all of the data, without the sampler, or sum it over the ranks with hvd.allreduce(..., op=hvd.Sum)
    for x, y in loader:
        labels = y.flatten()
        counts += torch.bincount(labels, minlength=10)
    return counts / counts.sum()

@torch.no_grad()
def accuracy(loader):
    right = 0
    for x, y in loader:
        right += (model(x).argmax(1) == y).sum()
    return right

def look(loader):
    shapes = []
    for x, y in loader:
        shapes.append(x.shape)
        break
    return shapes

def paint(images):
    painted = []
    for image in images:
        painted.append(image.numpy())
    return painted

sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
loader = DataLoader(data, batch_size=8, sampler=sampler)
loss = torch.nn.CrossEntropyLoss(weight=1 - frequencies(loader))
for x, y in loader:
    loss(model(x), y).backward()
    optimizer.step()
print(look(loader), accuracy(loader), paint(next(iter(loader))[0]))
