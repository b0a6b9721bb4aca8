# Changed: the optimizer is wrapped, and the move is reported: a copy of the model is made above it

import copy

import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters())
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 20)
average = copy.deepcopy(model)
model.cuda()
for x in batches:
    model(x).sum().backward()
    optimizer.step()
