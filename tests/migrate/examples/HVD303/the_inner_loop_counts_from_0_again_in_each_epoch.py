# Changed: The inner loop counts from 0 again in each epoch. A deriving class brings what the loop calls.

import torch
from torch.utils.data import DataLoader

class Trainer:
    def __init__(self, model, data, test):
        self.model = model
        self.loader = DataLoader(data, batch_size=4, shuffle=True)
        self.test_loader = DataLoader(test, batch_size=4, shuffle=True)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(self, x):
        raise NotImplementedError()

    def run(self):
        for epoch in range(3):
            for repeat in range(2):
                for x in self.loader:
                    self.optimizer.zero_grad()
                    self.step(x)
                    self.optimizer.step()
            for x in self.test_loader:
                print(self.model(x).sum())

class Sums(Trainer):
    def step(self, x):
        self.model(x).sum().backward()

Sums(torch.nn.Linear(2, 1), train_data, test_data).run()
