# Changed: a variable holds one model after another, and each is moved before its own optimizer is made

import torch

model = torch.nn.Linear(2, 1)
if cuda:
    model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in batches:
    model(x).sum().backward()
    optimizer.step()

model = torch.nn.Linear(4, 1)
if cuda:
    model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
for x in batches:
    model(x).sum().backward()
    optimizer.step()
