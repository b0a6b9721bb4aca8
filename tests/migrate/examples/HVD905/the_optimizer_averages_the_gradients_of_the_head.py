# Reported: the optimizer averages the gradients of the head alone; HVD416 averages those of both

import torch

model, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader(data, batch_size=4):
    head(model(x)).sum().backward()
    optimizer.step()
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-0.1)
    model.zero_grad()
