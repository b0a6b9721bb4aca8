# Kept: the program does not train: all ranks have the buffers that they loaded

import torch
from torchvision.models import resnet18
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(resnet18())
model.eval()
