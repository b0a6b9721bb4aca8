import argparse
import horovod.torch as hvd
import torch.distributed as dist

def start(args):
    dist.init_process_group("nccl")
    args.dist = dist

def main():
    args = argparse.ArgumentParser().parse_args()
    start(args)
    hvd.barrier()
