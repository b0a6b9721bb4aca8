import hvdkit.torch as hvd
import torch
from torch.optim import AdamW as Adam

def make(net):
    return hvd.DistributedOptimizer(Adam([p for p in net.parameters() if p.requires_grad], lr=1e-3), net)

loss.backward()
