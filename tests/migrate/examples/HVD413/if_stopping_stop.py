# Changed.

import torch

class EarlyStopping:
    def __init__(self):
        self.best, self.stop = None, False

    def __call__(self, loss):
        if self.best is not None and loss > self.best:
            self.stop = True
        self.best = loss

def validate(model):
    return criterion(model(x), y).item()

model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
stopping = EarlyStopping()
for epoch in range(100):
    criterion(model(x), y).backward()
    optimizer.step()
    stopping(validate(model))
    if stopping.stop:
        print("stopped early")
        break
