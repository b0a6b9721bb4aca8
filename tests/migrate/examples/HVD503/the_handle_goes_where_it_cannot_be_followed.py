# Reported: the handle goes where it cannot be followed

import torch.distributed as dist

work = dist.all_gather(parts, part, async_op=True)
pending.add(work)
