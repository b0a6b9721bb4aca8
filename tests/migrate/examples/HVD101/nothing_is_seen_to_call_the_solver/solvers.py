import torch
from library import registry


@registry.register()
class Solver:
    def train(self):
        optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
