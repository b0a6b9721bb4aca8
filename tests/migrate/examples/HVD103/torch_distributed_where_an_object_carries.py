# Changed: torch.distributed, where an object carries it from one function to another.

import argparse
import torch.distributed as dist

def start(args):
    dist.init_process_group("nccl")
    args.dist = dist

def main():
    args = argparse.ArgumentParser().parse_args()
    start(args)
    args.dist.barrier()
