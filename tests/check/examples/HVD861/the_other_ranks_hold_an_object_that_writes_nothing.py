# Kept: the other ranks hold an object that writes nothing

import horovod.torch as hvd
import torch

class Restorer:
    def step(self):
        torch.save(model.state_dict(), "restore.pt")

class Silent:
    def step(self):
        pass

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
restorer = Restorer()
if hvd.rank() != 0:
    restorer = Silent()
for x in batches:
    restorer.step()
