# Kept: not a distributed program: no_sync is somebody's own

import torch

class Cache:
    def no_sync(self):
        return lock

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with Cache().no_sync():
    model(x).sum().backward()
optimizer.step()
