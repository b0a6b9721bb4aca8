# Changed: A method of the name backward: what it calls is the backward pass, and its own call is not a
# second one.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Trainer:
    def __init__(self):
        self.model = DDP(torch.nn.Linear(2, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def backward(self, x):
        loss = self.model(x).sum()
        loss.backward()

    def clip(self):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)

    def update(self):
        self.clip()
        self.optimizer.step()

    def train(self, batches):
        for x in batches:
            self.optimizer.zero_grad()
            self.backward(x)
            self.update()
