# Changed: the model is moved before its optimizer is made

import torch

class Experiment:
    def __init__(self):
        self.model = torch.nn.Linear(2, 1).cuda()
        self.model.double()

    def train(self, loader):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        for x in loader:
            optimizer.zero_grad()
            self.model(x).sum().backward()
            optimizer.step()

Experiment().train(loader)
