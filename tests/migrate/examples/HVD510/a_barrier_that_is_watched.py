# Reported: the barrier has a timeout, and may be one of some of the ranks

import torch.distributed as dist

dist.monitored_barrier(timeout=limit)
