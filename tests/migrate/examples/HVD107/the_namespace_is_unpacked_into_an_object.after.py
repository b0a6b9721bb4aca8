import argparse
from dataclasses import dataclass
import horovod.torch as hvd
import torch
import torch.distributed as dist

@dataclass
class Config:
    local_rank: int = -1

def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=-1)
    return Config(**vars(parser.parse_args()))

args = parse()
if hvd.size() > 1:
    args.local_rank = hvd.local_rank()
if args.local_rank != -1:
    torch.cuda.set_device(args.local_rank)
    dist.init_process_group("nccl")
