# Reported: the optimizer inside trains copies in float32

import torch

class Masters:
    def __init__(self, optimizer):
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            self.halves = list(group["params"])
            for i, p in enumerate(self.halves):
                group["params"][i] = p.detach().float()

    def step(self):
        for half, p in zip(self.halves, self.optimizer.param_groups[0]["params"]):
            p.grad = half.grad.float()
        self.optimizer.step()

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = Masters(optimizer)
model(x).sum().backward()
optimizer.step()
