# Changed: The processes of one host are counted by a loop; their product with the hosts is known elsewhere,
# too.

import argparse
import torch.distributed as dist
from torch.multiprocessing import Process

def run(rank, size, args):
    dist.init_process_group("gloo", rank=rank, world_size=size)

parser = argparse.ArgumentParser()
parser.add_argument("--hosts", type=int, default=1)
parser.add_argument("--gpus", type=int, default=1)
args = parser.parse_args()
args.world_size = args.hosts * args.gpus
size = args.gpus
if size > 1:
    for gpu in range(size):
        rank = gpu + args.host * args.gpus
        total = args.gpus * args.hosts
        Process(target=run, args=(rank, total, args)).start()
else:
    run(0, size, args)
