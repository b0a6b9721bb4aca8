# Kept: a DDP script downloads as it did

import torch
import torch.distributed as dist
from torchvision import datasets

dist.init_process_group("gloo")
train = datasets.MNIST("data", train=True, download=True)
loss.backward()
