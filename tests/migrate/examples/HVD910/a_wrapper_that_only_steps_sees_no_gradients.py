# Kept: a wrapper that only steps sees no gradients

import torch

class WarmUp:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def step(self):
        self.optimizer.step()

optimizer = WarmUp(torch.optim.SGD(model.parameters(), lr=0.1))
model(x).sum().backward()
optimizer.step()
