# Kept: torch says that it can be done at all, and one of several ways to say yes is enough

import argparse
import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--world_size", type=int, default=1)
parser.add_argument("--rank", type=int, default=0)
parser.add_argument("--force", action="store_true")
args = parser.parse_args()
if dist.is_available() and (args.world_size > 1 or args.force):
    dist.init_process_group("nccl", rank=args.rank, world_size=args.world_size)
