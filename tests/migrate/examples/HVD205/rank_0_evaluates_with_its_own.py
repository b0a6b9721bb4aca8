# Kept: rank 0 evaluates with its own

import torch
import torch.distributed as dist
from torchvision.models import resnet18
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(resnet18())
loss.backward()
if dist.get_rank() == 0:
    model.eval()
