# Reported: where the batch is a tuple, its parts are what the model gets

import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.nn.parallel.data_parallel(model, batch, [0, 1]).sum().backward()
optimizer.step()
