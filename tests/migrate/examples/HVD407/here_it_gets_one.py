# Reported: here it gets one

import torch

class Slow:
    def __init__(self, inner):
        self.inner = inner

    def step(self, *args):
        return self.inner.step(*args)

def closure():
    loss = model(x).sum()
    loss.backward()
    return loss

inner = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = Slow(inner)
optimizer.step(closure)
