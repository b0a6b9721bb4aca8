# Kept: a rank that fails ends the job, and no other waits for it

import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    optimizer.zero_grad()
    loss = model(x).sum()
    if torch.isnan(loss):
        raise ValueError("diverged")
    else:
        loss.backward()
        optimizer.step()
