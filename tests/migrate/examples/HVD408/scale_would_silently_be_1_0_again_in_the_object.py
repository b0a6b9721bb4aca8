# Reported: scale would silently be 1.0 again in the object that Horovod makes

import torch

class Sign(torch.optim.SGD):
    def __init__(self, params, lr=0.1, scale=1.0):
        super().__init__(params, lr=lr)
        self.scale = scale

optimizer = Sign(model.parameters(), scale=2.0)
model(x).sum().backward()
optimizer.step()
