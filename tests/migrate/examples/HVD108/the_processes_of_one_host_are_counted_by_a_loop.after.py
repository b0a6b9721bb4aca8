import argparse
import horovod.torch as hvd
import torch.distributed as dist
from torch.multiprocessing import Process

def run(rank, size, args):
    dist.init_process_group("gloo", rank=rank, world_size=size)

parser = argparse.ArgumentParser()
parser.add_argument("--hosts", type=int, default=1)
parser.add_argument("--gpus", type=int, default=1)
args = parser.parse_args()
args.world_size = hvd.size()
size = hvd.size()
if hvd.size() > 1:
    for gpu in range(size):
        rank = hvd.rank()
        total = hvd.size()
        Process(target=run, args=(rank, total, args)).start()
else:
    run(0, size, args)
