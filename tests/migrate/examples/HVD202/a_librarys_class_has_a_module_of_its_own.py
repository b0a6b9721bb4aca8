# Reported: a library's class has a .module of its own, and it is not known whether the model has one

import torch
from timm.utils import ModelEmaV2
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(get_model())
chosen = ModelEmaV2(model) if ema else model
print(chosen.module)
