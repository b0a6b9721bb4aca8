# Kept: asking for a class shards nothing

from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

def save(model: FSDP):
    return isinstance(model, FSDP)
