from contextlib import nullcontext
import horovod.torch as hvd
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
has_no_sync = hvd.size() > 1
for i, x in enumerate(batches):
    last = (i + 1) % 4 == 0
    if has_no_sync and not last:
        optimizer.set_backward_passes_per_step(2)
        task.model(x).sum().backward()
        optimizer.set_backward_passes_per_step(1)
    else:
        task.model(x).sum().backward()
    if last:
        optimizer.step()
