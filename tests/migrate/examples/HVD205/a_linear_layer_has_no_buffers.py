# Kept: a linear layer has no buffers

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
loss.backward()
model.eval()
