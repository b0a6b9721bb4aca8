# Changed: All ranks counted are all ranks.

import torch.distributed as dist

size = dist.get_world_size()
groups = dist.new_group(list(range(size))), dist.new_group(ranks=[i for i in range(size)])
half = dist.new_group(list(range(size // 2)))
