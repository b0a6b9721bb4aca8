# Reported: one rank alone would wait for the others for ever

import torch
import torch.distributed as dist
from torchvision.models import resnet18
from torch.nn.parallel import DistributedDataParallel as DDP

def validate(net):
    net.eval()
    return net(x)

model = DDP(resnet18())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss.backward()
validate(model)
if dist.get_rank() == 0:
    validate(best)
