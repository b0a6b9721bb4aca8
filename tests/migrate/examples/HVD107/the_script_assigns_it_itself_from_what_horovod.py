# Kept: the script assigns it itself, from what Horovod will say

import argparse
import os
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--rank", type=int, default=0)
args = parser.parse_args()
args.rank = int(os.environ["RANK"])
dist.init_process_group("nccl", rank=args.rank)
print(args.rank)
