import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def is_parallel(model):
    return type(model) is DDP

if world > 1:
    generator = DDP(generator)
state = {"g": generator.state_dict()}
bare = generator
copied = deepcopy(generator)
