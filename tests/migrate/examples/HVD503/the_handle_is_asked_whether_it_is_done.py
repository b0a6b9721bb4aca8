# Reported: the handle is asked whether it is done, and Horovod has none for what it returns at once

import torch.distributed as dist

work = dist.all_gather(parts, part, async_op=True)
while not work.is_completed():
    compute()
