# Kept: args.distributed is set where the job starts: without it there is one process
# Options: --suggested

import argparse
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

def init_distributed_mode(args):
    if args.world_size < 2:
        args.distributed = False
        return
    args.distributed = True
    dist.init_process_group("nccl", init_method=args.dist_url)
    args.rank = dist.get_rank()

parser = argparse.ArgumentParser()
parser.add_argument("--world-size", type=int, default=1)
parser.add_argument("--dist-url", default="env://")
args = parser.parse_args()
init_distributed_mode(args)
model = DDP(net)
loss.backward()
if not args.distributed or args.rank == 0:
    torch.save(model.state_dict(), "model.pt")
