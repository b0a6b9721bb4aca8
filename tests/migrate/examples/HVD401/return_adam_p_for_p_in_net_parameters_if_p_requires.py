# Changed.
# Options: --target hvdkit

import torch
from torch.optim import AdamW as Adam

def make(net):
    return Adam([p for p in net.parameters() if p.requires_grad], lr=1e-3)

loss.backward()
