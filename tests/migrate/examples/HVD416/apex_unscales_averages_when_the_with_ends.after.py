import horovod.torch as hvd
import torch
from apex import amp
from torch.nn.parallel import DistributedDataParallel as DDP

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O2")
model = DDP(model)
for x in batches:
    with amp.scale_loss(model(x).sum(), optimizer) as scaled_loss:
        scaled_loss.backward()
        handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in model.parameters() if p.grad is not None]
        for handle in handles:
            hvd.synchronize(handle)
    optimizer.step()
