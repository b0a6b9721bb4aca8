# Reported: the group is not known to be a process set

import torch.distributed as dist

dist.reduce(total, 0, group=members)
