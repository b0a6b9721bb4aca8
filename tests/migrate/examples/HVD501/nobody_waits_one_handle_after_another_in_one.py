# Changed: Nobody waits; one handle after another in one variable.

import torch.distributed as dist

dist.all_reduce(total, async_op=True)
work = dist.all_reduce(first, async_op=True)
work.wait()
work = dist.broadcast(second, 0, async_op=True)
work.wait()
