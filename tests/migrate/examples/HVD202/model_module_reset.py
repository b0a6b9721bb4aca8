# Changed.

from torch.nn.parallel import DistributedDataParallel as DDP

models = [DDP(m) for m in build()]
by_name = {"a": models[0]}
for model in models:
    model.module.reset()
for key, model in by_name.items():
    model.module.reset()
