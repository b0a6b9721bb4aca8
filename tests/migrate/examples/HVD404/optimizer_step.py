# Changed.

import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, x in enumerate(batches):
    loss = model(x).sum() / 4
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
