# Reported: rank 0's loss may be a number where another rank's is not

import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    loss = model(x).mean()
    if torch.isnan(loss):
        continue
    loss.backward()
    optimizer.step()
