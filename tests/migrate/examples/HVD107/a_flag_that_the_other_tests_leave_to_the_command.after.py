import argparse
import os
import horovod.torch as hvd
import torch.distributed as dist

def main(args):
    if hvd.size() > 1:
        args.ddp = True
    use_ddp = args.ddp
    if use_ddp and int(os.environ["WORLD_SIZE"]) > 1:
        dist.init_process_group("nccl")

common = argparse.ArgumentParser(add_help=False)
common.add_argument("--ddp", action="store_true")
common.add_argument("--local_rank", type=int, default=0)
parser = argparse.ArgumentParser(parents=[common])
parser.add_argument("--lr", type=float, default=0.1)
main(parser.parse_args())
