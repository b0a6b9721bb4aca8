# Kept: the number of GPUs is not used to start processes, so it means what it says

import torch
import torch.distributed as dist

ngpus = torch.cuda.device_count()
dist.init_process_group("nccl")
batch = 32 * ngpus
