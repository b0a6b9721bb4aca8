# Kept: a program without torch.distributed may mean anything by a rank

import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--rank", type=int, default=8, help="rank of the low-rank adapter")
parser.add_argument("--local_rank", type=int, default=0)
args = parser.parse_args()
print(args.rank, args.local_rank)
