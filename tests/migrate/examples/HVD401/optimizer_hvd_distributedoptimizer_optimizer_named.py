# Changed.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

backbone, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
model = DDP(torch.nn.Sequential(backbone, head))
groups = [dict(params=head.parameters(), lr=0.1)]
if finetune:
    groups.append(dict(params=backbone.parameters(), lr=0.01))
optimizer = torch.optim.SGD(groups)
