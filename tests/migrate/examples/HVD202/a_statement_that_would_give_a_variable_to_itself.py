# Changed: A statement that would give a variable to itself goes.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def test(model, distributed):
    if distributed:
        model = model.module
    return model.weight

test(DDP(torch.nn.Linear(2, 1)), True)
