import torch.distributed as dist

if not dist.is_initialized():
    dist.init_process_group("gloo")
use = True
