# Kept: nobody asks for the gradients of the parameters

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1)).eval()
x = torch.ones(1, 2, requires_grad=True)
x.register_hook(print)
model(x).sum().backward()
