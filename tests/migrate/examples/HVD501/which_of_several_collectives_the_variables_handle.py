# Reported: which of several collectives the variable's handle is of is not known

import torch.distributed as dist

if large:
    work = dist.all_reduce(total, async_op=True)
else:
    work = dist.broadcast(total, 0, async_op=True)
work.wait()
