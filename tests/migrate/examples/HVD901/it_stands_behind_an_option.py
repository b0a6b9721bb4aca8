# Reported: it stands behind an option, and taking that away is the person's to ask for: --suggested

from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.parallel import DistributedDataParallel as DDP

def wrapped(args, model):
    if args.fsdp:
        return FSDP(model)
    return DDP(model)
