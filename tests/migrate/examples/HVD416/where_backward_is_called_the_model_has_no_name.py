# Kept: where backward() is called the model has no name

import torch
from somewhere import make_optimizer
from torch.nn.parallel import DistributedDataParallel as DDP

def train(model, backward):
    optimizer = make_optimizer(model)
    backward(model(x).sum())
    optimizer.step()

train(DDP(torch.nn.Linear(2, 1)), lambda loss: loss.backward())
