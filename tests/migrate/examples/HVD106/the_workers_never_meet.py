# Kept: the workers never meet: no process group is created in them, whatever they call

import torch.multiprocessing as mp
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

def even(n):
    return n == 0 or odd(n - 1)

def odd(n):
    return n != 0 and even(n - 1)

def preprocess(index, folder):
    print(even(index), folder)

if __name__ == "__main__":
    mp.spawn(preprocess, args=("data",), nprocs=4)
    dist.init_process_group("nccl")
    model = DDP(net)
