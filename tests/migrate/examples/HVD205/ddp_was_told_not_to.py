# Kept: DDP was told not to

import torch
from torchvision.models import resnet18
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(resnet18(), broadcast_buffers=False)
loss.backward()
model.eval()
