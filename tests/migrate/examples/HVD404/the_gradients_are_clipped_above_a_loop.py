# Reported: the gradients are clipped above a loop over optimizers that could not be followed

import torch

class Trainer:
    def __init__(self, net):
        self.net, self.optimizers = net, {}
        self.optimizers["net"] = torch.optim.SGD(net.parameters(), lr=0.1)

    def update(self, x):
        optimizers = [self.optimizers[key] for key in self.optimizers.keys()]
        self.net(x).sum().backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()

Trainer(torch.nn.Linear(2, 1)).update(x)
