# Kept: an object around the optimizer hands a closure on, and nobody gives it one

import torch

class Slow:
    def __init__(self, inner):
        self.inner = inner

    def step(self, closure=None):
        return self.inner.step(closure)

inner = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = Slow(inner)
model(x).sum().backward()
optimizer.step()
