# Kept: hvdkit's broadcast of a model fills it in place

import hvdkit.torch as hvd
import torch

hvd.init()
model = torch.nn.Linear(1, 1)
hvd.broadcast(model)
print(model.weight)
