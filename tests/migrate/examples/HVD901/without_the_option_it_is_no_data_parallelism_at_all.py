# Reported: without the option it is no data parallelism at all
# Options: --suggested

import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

def wrapped(args, model):
    if args.several:
        model = FSDP(model)
    return model
