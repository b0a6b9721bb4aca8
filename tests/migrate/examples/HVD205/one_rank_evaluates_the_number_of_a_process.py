# Reported: which ranks have the number 0 is not known: two options make it

import torch
import torch.distributed as dist
from torchvision.models import resnet18
from torch.nn.parallel import DistributedDataParallel as DDP

local_rank = dist.get_rank() % args.gpus
rank = local_rank + args.node * args.gpus
model = DDP(resnet18())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss.backward()
if rank == 0:
    model.eval()
