# Changed: A flag that every job of several processes sets again is the rank's; by another test it is not.
# Options: --suggested

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

first = True
if dist.get_world_size() > 1:
    first = dist.get_rank() == 0
second = True
if verbose:
    second = dist.get_rank() == 0
model = DDP(net)
loss.backward()
if first:
    torch.save(model.state_dict(), "first.pt")
if second:
    torch.save(model.state_dict(), "second.pt")
