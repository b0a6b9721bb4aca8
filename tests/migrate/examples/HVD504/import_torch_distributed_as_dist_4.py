# Changed.

import torch.distributed as dist

dist.scatter_object_list(mine, tasks, src=0)
