import sys
import torch.distributed as dist
from configuration import load

def start_by_torch(backend):
    dist.init_process_group(backend)

config = load("train.yaml")
# hvdkit: TODO[HVD111] make sure that `config.launcher != "none"` is True whenever hvd.size() > 1, or ask hvd.size() > 1 here
if config.launcher != "none":
    getattr(sys.modules[__name__], "start_by_%s" % config.launcher)("nccl")
