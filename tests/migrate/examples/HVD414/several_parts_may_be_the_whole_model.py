# Kept: several parts may be the whole model

import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)

model = Net()
groups = [{"params": model.body.parameters()}, {"params": model.head.parameters(), "lr": 0.01}]
optimizer = torch.optim.SGD(groups, lr=0.1)
model(x).sum().backward()
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
optimizer.step()
