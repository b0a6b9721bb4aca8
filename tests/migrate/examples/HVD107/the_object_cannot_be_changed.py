# Reported: the object that the namespace is unpacked into cannot be changed

import argparse
from dataclasses import dataclass
import torch
import torch.distributed as dist

@dataclass(frozen=True)
class Config:
    local_rank: int = -1

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
args = Config(**vars(parser.parse_args()))
if args.local_rank != -1:
    torch.cuda.set_device(args.local_rank)
    dist.init_process_group("nccl")
