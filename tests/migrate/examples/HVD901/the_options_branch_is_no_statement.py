# Reported: the option's branch is no statement
# Options: --suggested

from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.parallel import DistributedDataParallel as DDP

def wrapped(args, model):
    return sharded(model) if args.fsdp else DDP(model)

def sharded(model):
    return FSDP(model)
