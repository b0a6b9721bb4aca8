# Changed: What torch.distributed.launch passes as --local_rank, under another name.

import argparse
import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--rank", "--local_rank", type=int, default=0)
args = parser.parse_args()
torch.cuda.set_device(args.rank)
dist.init_process_group("nccl")
