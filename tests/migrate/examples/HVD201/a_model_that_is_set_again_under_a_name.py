# Changed: A model that is set again under a name that is computed.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Trainer:
    def __init__(self):
        for name in ("encoder", "decoder"):
            setattr(self, name, DDP(getattr(self, name), device_ids=[0]))
