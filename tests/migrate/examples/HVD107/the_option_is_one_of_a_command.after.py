import argparse
import horovod.torch as hvd
import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
commands = parser.add_subparsers(dest="command")
train = commands.add_parser("train")
train.add_argument("--local_rank", type=int, default=-1)
args = parser.parse_args()
if hvd.size() > 1:
    args.local_rank = hvd.local_rank()
if args.local_rank != -1:
    torch.cuda.set_device(args.local_rank)
    dist.init_process_group("nccl")
