# Reported: one of three classes is the script's own: with the others the program is migrated

import torch

class Slow(torch.optim.SGD):
    def __init__(self, params, lr, pause=10):
        super().__init__(params, lr=lr)
        self.pause = pause

def make(params, kind):
    if kind == "slow":
        chosen = Slow
    elif kind == "adam":
        chosen = torch.optim.Adam
    else:
        chosen = torch.optim.SGD
    return chosen(params, lr=0.1)

model = torch.nn.Linear(2, 1)
optimizer = make(model.parameters(), "slow")
model(x).sum().backward()
optimizer.step()
