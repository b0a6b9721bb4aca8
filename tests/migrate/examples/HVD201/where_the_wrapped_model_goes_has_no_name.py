# Reported: where the wrapped model goes has no name to broadcast it by

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

register(DDP(torch.nn.Linear(2, 1)))
train = DDP(torch.nn.Linear(2, 1)).train
for part in [DDP(torch.nn.Linear(2, 1))]:
    part.train()
[model, *rest] = [DDP(torch.nn.Linear(2, 1)), 1, 2]
holder().model = DDP(torch.nn.Linear(2, 1))

def make():
    return [DDP(torch.nn.Linear(2, 1))], 1
