# Changed: With nothing left to choose between, the test goes as well.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def is_parallel(model):
    return type(model) is DDP

if world > 1:
    generator = DDP(generator)
state = {"g": (generator.module if world > 1 else generator).state_dict()}
bare = generator if world == 1 else generator.module
copied = deepcopy(generator.module if is_parallel(generator) else generator)
