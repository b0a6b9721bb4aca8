import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def test(model, distributed):
    return model.weight

test(DDP(torch.nn.Linear(2, 1)), True)
