# Kept: the prefix is looked for, or something else is cut off

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
state = torch.load("model.pt")
if any("module." in key for key in state):
    state = {key.removeprefix("module."): value for key, value in state.items()}
for key in list(state):
    if key.startswith(("module.", "model.")):
        state[key.split(".", 1)[1]] = state.pop(key)
name = path[7:]
for key in state:
    short = key[6:]
for line in lines:
    rest = line[7:]
torch.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, prefix="module.")
