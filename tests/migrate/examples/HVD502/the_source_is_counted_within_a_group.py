# Reported: the source is counted within a group

import torch.distributed as dist

dist.broadcast(value, group_src=0, group=group)
