# Changed: Asked of torch.

import torch.distributed as dist

if dist.is_torchelastic_launched():
    dist.init_process_group("nccl")
elif not dist.is_torchelastic_launched():
    print("alone")
