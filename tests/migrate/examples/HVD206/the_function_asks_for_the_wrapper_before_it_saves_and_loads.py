# Kept: saved and loaded is what the wrapper holds, where there is one: no checkpoint has module. in its names

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def save(model):
    if isinstance(model, DDP):
        state = model.module.state_dict()
    else:
        state = model.state_dict()
    torch.save(state, "model.pt")

def load(model):
    state = torch.load("model.pt")
    if isinstance(model, DDP):
        model.module.load_state_dict(state)
    else:
        model.load_state_dict(state)

model = DDP(net)
load(model)
loss.backward()
optimizer.step()
save(model)
