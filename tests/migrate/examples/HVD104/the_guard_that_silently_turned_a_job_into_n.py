# Changed: The guard that silently turned a job into N unsynchronised copies.

import os
import torch.distributed as dist

ddp = int(os.environ.get("RANK", -1)) != -1
alone = not os.getenv("WORLD_SIZE") or "LOCAL_RANK" not in os.environ
if ddp:
    dist.init_process_group("nccl")
