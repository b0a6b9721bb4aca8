# Kept: an optimizer is made again for what is trained from there on (HVD415)

import torch

model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
for p in model[0].parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
for x in batches:
    model(x).sum().backward()
    optimizer.step()
for p in model[0].parameters():
    p.requires_grad = True
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for x in batches:
    model(x).sum().backward()
    optimizer.step()
