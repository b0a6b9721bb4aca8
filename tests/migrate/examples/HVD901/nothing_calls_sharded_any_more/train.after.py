from fairscale.nn import FullyShardedDataParallel as FSDP
from torch.nn.parallel import DistributedDataParallel as DDP
from config import cfg

def sharded(model):
    return FSDP(model)

def wrapped(model):
    if not cfg.SHARD:
        return DDP(model)
    else:
        raise SystemExit("cfg.SHARD: fairscale does not run under Horovod")

model = wrapped(build())
