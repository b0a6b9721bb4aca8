# Reported: the group is not known to be all ranks or a process set

import torch.distributed as dist

dist.all_reduce(total, group=groups[rank])
