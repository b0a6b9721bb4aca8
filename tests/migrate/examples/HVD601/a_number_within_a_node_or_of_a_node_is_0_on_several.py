# Changed: A number within a node, or of a node, is 0 on several ranks; what a loop gives is no rank.
# Options: --suggested

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

rank = dist.get_rank()
model = DDP(net)
loss.backward()
if rank // 8 == 0:
    torch.save(model.state_dict(), "a.pt")
for part in range(2):
    is_first = part == 0
    if is_first:
        torch.save(model.state_dict(), "b.pt")
for is_last in (False, True):
    if is_last:
        torch.save(model.state_dict(), "c.pt")
