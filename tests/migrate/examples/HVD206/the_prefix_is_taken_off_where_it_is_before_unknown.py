# Kept: the prefix is taken off where it is, before unknown names are passed over

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
state = {key.replace("module.", ""): value for key, value in torch.load("a.pt").items()}
model.load_state_dict(state, strict=False)
