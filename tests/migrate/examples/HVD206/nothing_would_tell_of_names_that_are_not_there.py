# Changed: Nothing would tell of names that are not there: a checkpoint of the DDP program would load
# nothing.
# Options: --suggested

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def restart(path, **objects):
    checkpoint = torch.load(path)
    for name, value in objects.items():
        value.load_state_dict(checkpoint[name], strict=False)

model = DDP(net)
restart("last.pt", student=model)
model.load_state_dict(torch.load("best.pt"), strict=False)
