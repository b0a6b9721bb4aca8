import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Trainer:
    def __init__(self):
        self.model = DDP(torch.nn.Linear(2, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def backward(self, x):
        loss = self.model(x).sum()
        loss.backward()
        self.optimizer.synchronize()

    def clip(self):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)

    def update(self):
        self.clip()
        with self.optimizer.skip_synchronize():
            self.optimizer.step()

    def train(self, batches):
        for x in batches:
            self.optimizer.zero_grad()
            self.backward(x)
            self.update()
