# Reported: the loss has parameters of its own, which join the optimizer where the trainer is made

import torch

class Trainer:
    def __init__(self, model, optimizer):
        self.loss = Weighted()
        self.model, self.optimizer = model, optimizer
        self.optimizer.add_param_group({"params": self.loss.parameters()})

    def step(self, x):
        self.loss(self.model(x)).backward()
        self.optimizer.step()

class Weighted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))

    def forward(self, y):
        return (self.weight * y).sum()

model = torch.nn.Linear(2, 1)
trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1))
for x in batches:
    trainer.step(x)
