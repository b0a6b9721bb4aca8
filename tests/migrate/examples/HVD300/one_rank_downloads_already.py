# Kept: one rank downloads already

import torch
import horovod.torch as hvd
from torchvision import datasets

if hvd.rank() == 0:
    datasets.MNIST("data", download=True)
hvd.barrier()
loss.backward()
