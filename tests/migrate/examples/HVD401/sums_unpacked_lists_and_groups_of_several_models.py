# Changed: Sums, unpacked lists and groups of several models.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

encoder = DDP(torch.nn.Linear(2, 2))
decoder = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.Adam(list(encoder.parameters()) + list(decoder.parameters()), lr=0.1)
critic = DDP(torch.nn.Linear(2, 1))
other = torch.optim.SGD([*critic.parameters()], lr=0.1)
