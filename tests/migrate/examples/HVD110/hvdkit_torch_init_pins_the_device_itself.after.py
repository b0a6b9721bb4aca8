import hvdkit.torch as hvd
import torch

hvd.init()

model = torch.nn.Linear(2, 1)
model(torch.ones(2)).sum().backward()
optimizer.step()
