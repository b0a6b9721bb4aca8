# Reported: what has no prefix is left out, and that is everything in the checkpoints written from now on

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def bare(state):
    found = {}
    for key, value in state.items():
        if key.startswith("module."):
            found[key[len("module."):]] = value
    return found

model = DDP(net)
net.load_state_dict(bare(torch.load("a.pt")), strict=False)
other = {k[7:]: v for k, v in state.items() if k.startswith("module.")}
