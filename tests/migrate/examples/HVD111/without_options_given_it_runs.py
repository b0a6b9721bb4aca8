# Kept: without options given it runs; the platform and the GPU are the same for all processes

import argparse
import sys
import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--no-cuda", action="store_true")
args = parser.parse_args()
use_cuda = not args.no_cuda and torch.cuda.is_available()
if use_cuda:
    dist.init_process_group("nccl")
elif sys.platform == "linux":
    dist.init_process_group("gloo")
