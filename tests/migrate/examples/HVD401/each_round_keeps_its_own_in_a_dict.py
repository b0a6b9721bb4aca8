# Reported: each round keeps its own in a dict: their gradients would have the same names

import torch

class Solver(torch.nn.Module):
    def __init__(self, networks):
        super().__init__()
        self.networks, self.optimizers = networks, {}
        for key in networks:
            self.optimizers[key] = torch.optim.Adam(networks[key].parameters())

    def train_both(self, batches):
        for x in batches:
            self.optimizers["maker"].zero_grad()
            self.networks["critic"](self.networks["maker"](x)).sum().backward()
            self.optimizers["maker"].step()

Solver({"maker": torch.nn.Linear(2, 2), "critic": torch.nn.Linear(2, 1)}).train_both(batches)
