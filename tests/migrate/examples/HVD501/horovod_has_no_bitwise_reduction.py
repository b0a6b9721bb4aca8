# Reported: Horovod has no bitwise reduction

import torch.distributed as dist

dist.all_reduce(flags, op=dist.ReduceOp.BOR)
