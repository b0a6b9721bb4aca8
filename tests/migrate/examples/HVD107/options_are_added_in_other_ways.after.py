import argparse
import functools
import horovod.torch as hvd
import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
add = parser.add_argument
number = functools.partial(parser.add_argument, type=int)
group = parser.add_argument_group("job").add_mutually_exclusive_group()
train = parser.add_subparsers(dest="command").add_parser("train")

def option(*names, **more):
    parser.add_argument(*names, **more)

def parsed():
    return parser.parse_known_args()[0]

add("--local_rank", type=int, default=0)
number("--first", dest="rank")
group.add_argument("--size", type=int)
option("--distributed", action="store_true")
train.add_argument("--lr", type=float)
args = parsed()
args.local_rank = hvd.local_rank()
if hvd.size() > 1:
    args.distributed = True
    args.rank = hvd.rank()
    args.size = hvd.size()
if args.distributed:
    torch.cuda.set_device(args.local_rank)
    dist.init_process_group("nccl", rank=args.rank, world_size=args.size)
print(args.rank, args.size)
