# Kept: an optimizer is among them; a name that the model does not have raises an error
# Options: --suggested

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def restart(path, **objects):
    checkpoint = torch.load(path)
    for name, value in objects.items():
        value.load_state_dict(checkpoint[name])

model = DDP(net)
restart("last.pt", student=model, optimizer=optimizer)
