import argparse
import horovod.torch as hvd
import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--rank", "--local_rank", type=int, default=0)
args = parser.parse_args()
args.rank = hvd.local_rank()
torch.cuda.set_device(args.rank)
dist.init_process_group("nccl")
