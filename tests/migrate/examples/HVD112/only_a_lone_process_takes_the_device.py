# Kept: only a single process takes the device that it is given

import argparse
import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=None)
parser.add_argument("--rank", type=int, default=0)
parser.add_argument("--world-size", type=int, default=1)
args = parser.parse_args()
args.distributed = args.world_size > 1
if args.distributed:
    dist.init_process_group("nccl", rank=args.rank, world_size=args.world_size)
else:
    torch.cuda.set_device(args.gpu)
