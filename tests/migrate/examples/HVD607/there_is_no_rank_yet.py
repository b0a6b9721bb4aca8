# Kept: there is no rank yet
# Options: --suggested

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

def main(args):
    with open("args.txt", "w") as file:
        file.write(str(args))
    dist.init_process_group("nccl")
    model = DDP(net)

main(args)
