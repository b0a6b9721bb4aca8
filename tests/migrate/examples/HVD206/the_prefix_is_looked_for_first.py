# Kept: the prefix is looked for first, and goes in front only where names have it

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def bias(state):
    prefix = "module." if next(iter(state)).startswith("module") else ""
    return state[prefix + "fc.bias"]

bias(torch.load("model.pt"))
model = DDP(net)
