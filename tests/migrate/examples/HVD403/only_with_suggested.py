# Reported: only with --suggested

import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss.backward()
