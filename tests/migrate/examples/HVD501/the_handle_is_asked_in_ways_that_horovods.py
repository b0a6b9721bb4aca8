# Reported: the handle is asked in ways that Horovod's has no answer for

import torch.distributed as dist

done = dist.all_reduce(total, async_op=True).wait()
dist.all_reduce(total, async_op=True).wait(timeout)
work = dist.all_reduce(total, async_op=True)
print(work)
