# Kept: the rank within the host by arithmetic is a device of the host; a list's index is no device

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
names = [1, 2].index(dist.get_rank())
