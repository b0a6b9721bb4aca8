# Changed: Set where the parsed options first get a name; a single process was given a required one, too.

import argparse
import torch.distributed as dist

def get_args():
    parser = argparse.ArgumentParser()
    group = parser.add_argument_group("launch")
    group.add_argument("--local-rank", "--local_rank", dest="local_rank", type=int, required=True)
    return parser.parse_args()

def main():
    opt = get_args()
    if opt.local_rank != -1:
        dist.init_process_group("nccl")
