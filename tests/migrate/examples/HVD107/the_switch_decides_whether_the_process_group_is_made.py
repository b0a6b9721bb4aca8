# Changed: The switch decides whether the process group is made, so it must be on in a job.

import argparse
import torch.distributed as dist

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--world-size", default=1, type=int)
    parser.add_argument("--rank", default=-1, type=int)
    parser.add_argument("--distributed", action="store_true")
    args, rest = parser.parse_known_args()
    if args.distributed:
        dist.init_process_group("nccl", rank=args.rank, world_size=args.world_size)
    print(args.rank, args.world_size)
