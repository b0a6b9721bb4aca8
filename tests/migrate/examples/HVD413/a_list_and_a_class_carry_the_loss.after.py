import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader

class Stop:
    best, early_stop = None, False
    def __call__(self, loss):
        self.early_stop = self.best is not None and loss > self.best
        self.best = loss

def validate(loader):
    losses = []
    for x in loader:
        losses.append(model(x).mean().item())
    return sum(losses) / len(losses)

stop = Stop()
for epoch in range(10):
    for x in DataLoader(data):
        model(x).sum().backward()
        optimizer.step()
    stop(validate(test))
    if hvd.broadcast_object(bool(stop.early_stop), root_rank=0):
        break
