# Kept: it only runs for models that DDP wraps, of which none is left, and no optimizer counts the passes:
# the gradients are averaged once for each step (HVD417)

import contextlib
from factory import make_optimizer
from torch.nn.parallel import DistributedDataParallel as DDP

@contextlib.contextmanager
def synchronized(model, sync):
    if sync or not isinstance(model, DDP):
        yield
    else:
        with model.no_sync():
            yield

net = make_net()
ddp = DDP(net)
optimizer = make_optimizer(net.parameters())
for batch in batches:
    for i, x in enumerate(batch.split(4)):
        with synchronized(ddp, i == 3):
            ddp(x).sum().backward()
    optimizer.step()
