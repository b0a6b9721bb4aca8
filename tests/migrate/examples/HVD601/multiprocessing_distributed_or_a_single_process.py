# Kept: multiprocessing_distributed or a single process: the ImageNet example's way to say rank 0
# Options: --suggested

import argparse
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

parser = argparse.ArgumentParser()
parser.add_argument("--rank", type=int, default=-1)
parser.add_argument("--world-size", type=int, default=-1)
args = parser.parse_args()
distributed = args.world_size > 1 or dist.is_initialized()
dist.init_process_group("nccl", rank=args.rank, world_size=args.world_size)
model = DDP(net)
loss.backward()
if distributed:
    is_master = args.rank == 0
else:
    is_master = True
if is_master:
    torch.save(model.state_dict(), "model.pt")
if args.world_size <= 1 or args.rank == 0:
    torch.save(model.state_dict(), "last.pt")
