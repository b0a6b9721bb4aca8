# Changed: Under parentheses, in front of an attribute and in front of an index.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

net = torch.nn.Sequential(torch.nn.Linear(2, 2))
model = DDP(net)
first = (model.module if distributed else model)[0]
bare = (model.module if distributed else model).state_dict()
other = model.module if distributed else net
one = model.module if ready() else model
