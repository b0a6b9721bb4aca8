# Changed: A function that the script itself calls asks for the rank above the place where the group was made.

import argparse
import torch
import torch.distributed as dist


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=-1)
    args = parser.parse_args()
    return args


args = parse()
if args.local_rank == -1:
    device = torch.device("cpu")
else:
    torch.cuda.set_device(args.local_rank)
    dist.init_process_group("nccl")
