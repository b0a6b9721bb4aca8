# Reported: the rank within a group has no counterpart before the group is a process set

import torch.distributed as dist

print(dist.get_rank(group))
