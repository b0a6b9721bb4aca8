import horovod.torch as hvd
import torch
from torchvision import datasets

class Numbered(datasets.CIFAR10):
    def __getitem__(self, index):
        return (*super().__getitem__(index), index)

if hvd.local_rank() != 0:
    hvd.barrier()
train = Numbered("data", download=True)
if hvd.local_rank() == 0:
    hvd.barrier()
loss.backward()
optimizer.step()
