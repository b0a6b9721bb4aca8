# Changed: Made anew in each epoch, the sampler of HVD302 begins with the same order: it is told there.

import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    loader = torch.utils.data.DataLoader(data, shuffle=True)
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
