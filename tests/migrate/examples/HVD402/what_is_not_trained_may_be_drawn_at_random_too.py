# Changed: What is not trained may be drawn at random, too.

import torch

model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.head.parameters(), lr=0.1)
model(x).sum().backward()
