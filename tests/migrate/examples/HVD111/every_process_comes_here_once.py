# Kept: every process comes here once

import torch.distributed as dist

def setup(rank):
    if not dist.is_initialized():
        dist.init_process_group("nccl")

if __name__ == "__main__":
    setup(0)
