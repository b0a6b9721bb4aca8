# Kept: a decorator tests the rank

import torch
import torch.distributed as dist

def on_rank_0(function):
    def wrapper(*args):
        if dist.get_rank() == 0:
            return function(*args)
    return wrapper

@on_rank_0
def save(state):
    torch.save(state, "model.pt")

save(state)
