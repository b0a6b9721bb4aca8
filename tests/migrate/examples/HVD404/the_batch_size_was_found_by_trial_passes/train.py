# Kept: the batch size was found by trial passes before a helper makes the optimizer

import torch
from sizes import fitting
from torch.nn.parallel import DistributedDataParallel as DDP

def smart_optimizer(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return optimizer

def train(model, size, epochs):
    if size == -1:
        size = fitting(model)
    optimizer = smart_optimizer(model)
    for epoch in range(epochs):
        for x in batches(size):
            model(x).sum().backward()
            optimizer.synchronize()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)
            with optimizer.skip_synchronize():
                optimizer.step()

train(DDP(net), -1, 3)
