# Changed: The function is called by a text that begins as its name.

import sys
import torch.distributed as dist
from configuration import load

def start_by_torch(backend):
    dist.init_process_group(backend)

config = load("train.yaml")
if config.launcher != "none":
    getattr(sys.modules[__name__], "start_by_%s" % config.launcher)("nccl")
