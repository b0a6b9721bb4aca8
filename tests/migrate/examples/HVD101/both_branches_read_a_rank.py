# Changed: Both branches read a rank: Horovod starts above the test.

import os
import torch.distributed as dist

def train():
    dist.init_process_group("nccl")
    run(int(os.environ["RANK"]))

def infer():
    run(int(os.environ.get("RANK", 0)))

def main(args):
    if args.train:
        train()
    elif args.test:
        infer()

main(parse())
