# Kept: the helper says True where no job was started, and rank 0 else
# Options: --suggested

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

def is_dist_avail_and_initialized():
    if not dist.is_available():
        return False
    return dist.is_initialized()

def is_main_process():
    if not is_dist_avail_and_initialized():
        return True
    return dist.get_rank() == 0

model = DDP(net)
loss.backward()
if is_main_process():
    torch.save(model.state_dict(), "model.pt")
