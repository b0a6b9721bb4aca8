# Changed: A data set of the project that derives from one of the library's.

import torch
from torchvision import datasets

class Numbered(datasets.CIFAR10):
    def __getitem__(self, index):
        return (*super().__getitem__(index), index)

train = Numbered("data", download=True)
loss.backward()
optimizer.step()
