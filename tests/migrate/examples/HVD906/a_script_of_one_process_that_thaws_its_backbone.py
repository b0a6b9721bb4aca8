# Reported: a script of one process that thaws its backbone: its ranks would part there

import torch

model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
for p in model[0].parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    if epoch == 1:
        for p in model[0].parameters():
            p.requires_grad = True
    model(x).sum().backward()
    optimizer.step()
