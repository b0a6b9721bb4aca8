# Kept: the other ranks have returned above it; the rank is held by an attribute

import torch
import torch.distributed as dist

def start(args):
    dist.init_process_group("nccl")
    args.rank = dist.get_rank()
    args.distributed = True

def save(args, state):
    if args.rank != 0:
        return
    torch.save(state, "model.pt")

args = parse()
start(args)
save(args, state)
