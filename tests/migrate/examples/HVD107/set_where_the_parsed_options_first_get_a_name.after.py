import argparse
import horovod.torch as hvd
import torch.distributed as dist

def get_args():
    parser = argparse.ArgumentParser()
    group = parser.add_argument_group("launch")
    group.add_argument("--local-rank", "--local_rank", dest="local_rank", type=int)
    return parser.parse_args()

def main():
    opt = get_args()
    opt.local_rank = hvd.local_rank()
    if opt.local_rank != -1:
        dist.init_process_group("nccl")
