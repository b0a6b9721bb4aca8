import horovod.torch as hvd
import torch
from tasks import ClassificationTask
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
task = ClassificationTask(model, criterion)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
has_no_sync = args.distributed and hvd.size() > 1
for i, x in enumerate(batches):
    last = (i + 1) % 4 == 0
    if has_no_sync and not last:
        optimizer.set_backward_passes_per_step(2)
        model(x).sum().backward()
        optimizer.set_backward_passes_per_step(1)
    else:
        model(x).sum().backward()
    if last:
        optimizer.step()
