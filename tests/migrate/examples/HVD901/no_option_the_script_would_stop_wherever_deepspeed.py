# Reported: no option: the script would stop wherever DeepSpeed is installed
# Options: --suggested

from torch.nn.parallel import DistributedDataParallel as DDP
try:
    import deepspeed
    fast = True
except ImportError:
    fast = False

def wrapped(model):
    if fast:
        return deepspeed.initialize(model=model)[0]
    return DDP(model)
