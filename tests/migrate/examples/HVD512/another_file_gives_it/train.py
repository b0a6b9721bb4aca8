# Changed: Another file gives it.

import torch
import torch.distributed as dist
from world import everyone

dist.init_process_group("gloo")
print(everyone.rank)
