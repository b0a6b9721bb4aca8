# Reported: names of this model begin with module. without a wrapper
# Options: --suggested

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Average(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.module = model

model = DDP(Average(net))
model.load_state_dict(torch.load("last.pt"), strict=False)
