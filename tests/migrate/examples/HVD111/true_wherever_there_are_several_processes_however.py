# Kept: true wherever there are several processes, however it is put together

import argparse
import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--world_size", type=int, default=1)
parser.add_argument("--rank", type=int, default=0)
parser.add_argument("--debug", action="store_true")
args = parser.parse_args()

def is_distributed():
    return args.world_size > 1

def setup():
    dist.init_process_group("nccl", rank=args.rank, world_size=args.world_size)

if bool(is_distributed()) and not args.world_size <= 1:
    setup()
