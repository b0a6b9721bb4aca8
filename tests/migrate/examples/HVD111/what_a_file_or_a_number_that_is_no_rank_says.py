# Reported: what a file or a number that is no rank says is not known

import argparse
import os
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--nodes", type=int, default=1)
parser.add_argument("--mode", default="ddp")
args = parser.parse_args()
if args.nodes >= 1 and args.mode == "ddp":
    dist.init_process_group("nccl")
