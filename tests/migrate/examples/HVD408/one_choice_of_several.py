# Reported: one choice of several: told with a marker, and the other is migrated

import torch

class Counting(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1, every=10):
        self.every = every
        super().__init__(params, dict(lr=lr))

    def step(self, closure=None):
        pass

if args.opt == "counting":
    optimizer = Counting(model.parameters(), every=args.every)
else:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
optimizer.step()
