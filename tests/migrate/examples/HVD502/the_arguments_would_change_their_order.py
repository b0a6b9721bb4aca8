# Reported: the arguments would change their order, and one of them is a call that other rules rewrite

import torch.distributed as dist

dist.broadcast(src=dist.get_rank() // 8, tensor=flag)
