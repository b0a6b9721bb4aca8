# Kept: the test only guards no_sync(), which is another rule's (HVD405)

import contextlib
from torch.nn.parallel import DistributedDataParallel as DDP

@contextlib.contextmanager
def synchronized(model, sync):
    if sync or not isinstance(model, DDP):
        yield
    else:
        with model.no_sync():
            yield

model = DDP(net)
with synchronized(model, last):
    model(x).sum().backward()
