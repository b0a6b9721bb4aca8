# Changed: A loop cannot follow on the line of its if.

import torch.distributed as dist

if ready: dist.all_gather(parts, part)
