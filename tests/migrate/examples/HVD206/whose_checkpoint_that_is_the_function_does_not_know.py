# Reported: whose checkpoint that is the function does not know
# Options: --suggested

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def convert(state):
    state = state["model"]
    for k in list(state.keys()):
        if k.startswith("module.visual."):
            state[k[len("module.visual."):]] = state.pop(k)
    return state

model = DDP(net)
model.module.load_state_dict(convert(torch.load("clip.pt")))
