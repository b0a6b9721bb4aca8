import torch
from torch.nn.parallel import DistributedDataParallel as DDP

net = torch.nn.Sequential(torch.nn.Linear(2, 2))
model = DDP(net)
first = model[0]
bare = model.state_dict()
other = model if distributed else net
one = model if ready() else model
