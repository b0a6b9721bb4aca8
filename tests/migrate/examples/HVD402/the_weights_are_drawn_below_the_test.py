# Reported: the weights are drawn below the test: a broadcast beside the optimizer would come too early

import torch

class Trainer(torch.nn.Module):
    def __init__(self, train):
        super().__init__()
        self.net = torch.nn.Linear(2, 1)
        if train:
            self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        for layer in self.children():
            torch.nn.init.normal_(layer.weight)

    def update(self, x):
        self.net(x).sum().backward()
        self.optimizer.step()

Trainer(True).update(x)
