# Kept: every rank has a file of its own

import torch
import torch.distributed as dist

path = f"rank{dist.get_rank()}.pt"
torch.save(state, path)
