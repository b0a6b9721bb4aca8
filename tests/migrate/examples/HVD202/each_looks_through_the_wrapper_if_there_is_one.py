# Kept: each looks through the wrapper, if there is one

from torch.nn.parallel import DistributedDataParallel as DDP

def bare(model):
    if hasattr(model, "module"):
        return model.module
    return model

model, ema = DDP(net), DDP(net)
inner = model
if hasattr(model, "module"):
    inner = model.module
if hasattr(ema, "module"):
    ema = ema.module
bare(model).eval()
