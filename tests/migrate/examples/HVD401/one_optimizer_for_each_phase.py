# Reported: one optimizer for each phase, and the second holds a part of what the first one holds

import torch

model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
first = torch.optim.Adam(model.parameters())
second = torch.optim.SGD(model.head.parameters(), lr=0.1)
model(x).sum().backward()
first.step()
second.step()
