import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def restart(path, **objects):
    checkpoint = torch.load(path)
    for name, value in objects.items():
        value.load_state_dict({name.removeprefix("module."): value for name, value in checkpoint[name].items()}, strict=False)

model = DDP(net)
restart("last.pt", student=model)
model.load_state_dict({name.removeprefix("module."): value for name, value in torch.load("best.pt").items()}, strict=False)
