# Kept: all of them step right after each backward pass: each step() reduces its own gradients

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def make(encoder, decoder):
    one = torch.optim.SGD(encoder.parameters(), lr=0.1)
    two = torch.optim.SGD(decoder.parameters(), lr=0.01)
    return (one, two)

def train(model, optimizers):
    for x in batches:
        model.zero_grad()
        model(x).sum().backward()
        for optimizer in optimizers:
            optimizer.step()

encoder, decoder = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
optimizers = make(encoder, decoder)
train(DDP(torch.nn.Sequential(encoder, decoder)), optimizers)
