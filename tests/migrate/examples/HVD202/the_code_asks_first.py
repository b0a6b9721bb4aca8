# Kept: the code asks first, and is right with and without a wrapper

from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
bare = model.module if hasattr(model, "module") else model
same = getattr(model, "module", model)
if isinstance(model, DDP):
    model = model.module
try:
    state = model.module.state_dict()
except AttributeError:
    state = model.state_dict()
inner = model
while True:
    if not hasattr(inner, "module"):
        break
    inner = inner.module
