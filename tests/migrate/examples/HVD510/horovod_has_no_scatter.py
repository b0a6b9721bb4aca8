# Reported: Horovod has no scatter

import torch.distributed as dist

dist.scatter(mine, parts, src=0)
