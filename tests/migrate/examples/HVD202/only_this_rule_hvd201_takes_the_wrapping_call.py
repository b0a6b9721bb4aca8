# Changed: Only this rule: HVD201 takes the wrapping call.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def save(net):
    torch.save(net.module.state_dict(), "net.pt")

wrapped = DDP(torch.nn.Linear(2, 1))
save(wrapped)
