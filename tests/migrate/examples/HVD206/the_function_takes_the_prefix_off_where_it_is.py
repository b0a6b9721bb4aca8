# Kept: the function takes the prefix off where it is: it reads old and new checkpoints

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def strip_prefix_if_present(state, prefix):
    if not all(key.startswith(prefix) for key in state):
        return state
    return {key.replace(prefix, ""): value for key, value in state.items()}

model = torch.nn.Linear(2, 1)
model.load_state_dict(strip_prefix_if_present(torch.load("model.pt"), prefix="module."))
model = DDP(model)
