# Kept: DDP sends nothing when the model inside is called

import torch
from torchvision.models import resnet18
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(resnet18())
loss.backward()
model.module.eval()
