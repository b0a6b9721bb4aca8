# Changed: A method that hands no_sync() on where there is one stays; where it is used is what counts.

from contextlib import nullcontext
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Task:
    def __init__(self, model):
        self.model = DDP(model)

    def no_sync(self):
        if hasattr(self.model, "no_sync"):
            return self.model.no_sync()
        return nullcontext()

task = Task(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(task.model.parameters(), lr=0.1)
has_no_sync = hasattr(task.model, "no_sync")
for i, x in enumerate(batches):
    last = (i + 1) % 4 == 0
    if has_no_sync and not last:
        with task.no_sync():
            task.model(x).sum().backward()
    else:
        task.model(x).sum().backward()
    if last:
        optimizer.step()
