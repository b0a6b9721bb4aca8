import argparse
import horovod.torch as hvd
import torch


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=-1)
    args = parser.parse_args()
    return args


hvd.init()
args = parse()
if args.local_rank == -1:
    device = torch.device("cpu")
else:
    torch.cuda.set_device(args.local_rank)
