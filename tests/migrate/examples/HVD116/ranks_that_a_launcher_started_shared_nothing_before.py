# Kept: ranks that a launcher started shared nothing before

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
history = torch.zeros(8).share_memory_()
