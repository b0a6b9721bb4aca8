# Kept: the first backward pass has run when the optimizer is made

import torch

x = torch.ones(1, requires_grad=True)
(2 * x).backward()
print(x.grad)
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in batches:
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
