# Kept: what the environment or torch.distributed says has rules of its own; 1 is a process on its own

import os
import torch.distributed as dist

rank = int(os.environ["RANK"])
size = dist.get_world_size() if dist.is_initialized() else 1
dist.init_process_group("nccl", rank=rank, world_size=size)
