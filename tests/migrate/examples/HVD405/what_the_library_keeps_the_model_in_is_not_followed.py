# Changed: What the library keeps the model in is not followed: the no_sync() that stands here is enough.

import torch
from tasks import ClassificationTask
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
task = ClassificationTask(model, criterion)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
has_no_sync = args.distributed and hasattr(task.get_trainable_module(), "no_sync")
for i, x in enumerate(batches):
    last = (i + 1) % 4 == 0
    if has_no_sync and not last:
        with task.no_sync():
            model(x).sum().backward()
    else:
        model(x).sum().backward()
    if last:
        optimizer.step()
