# Changed.

import torch.distributed as dist

work = dist.all_reduce(total, async_op=True)
if not work.is_completed():
    work.wait()
dist.all_reduce(count, async_op=True).wait()
