# Changed: Ranks that give no list take part and throw away what they get.

import torch.distributed as dist

parts = [make() for _ in range(size)] if rank == 0 else None
dist.gather(part, gather_list=parts, dst=0)
