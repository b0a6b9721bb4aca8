# Kept: ... nor where it hands on whatever it gets

import torch

class Slow:
    def __init__(self, inner):
        self.inner = inner

    def step(self, *args, **kwargs):
        return self.inner.step(*args, **kwargs)

inner = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = Slow(inner)
model(x).sum().backward()
optimizer.step()
