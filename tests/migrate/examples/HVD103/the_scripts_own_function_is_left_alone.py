# Kept: the script's own function is left alone

import torch.distributed as dist

def get_world_size():
    return 1

print(get_world_size(), dist.ReduceOp.SUM)
