# Reported: an assignment cannot stand between commas

import torch.distributed as dist

dist.all_gather(parts, part), dist.all_gather(others, other)
