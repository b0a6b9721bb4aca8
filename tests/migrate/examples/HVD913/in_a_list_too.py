# Reported: in a list, too

import torch

optimizer = torch.optim.Adam(model.parameters())
model(x).sum().backward()
optimizer.step()
torch.save([model, optimizer], "last.pth")
