# Changed.

import torch
import torch.distributed as dist

def everyone(predictions, size):
    gathered = [torch.zeros_like(predictions) for _ in range(size)]
    dist.all_gather(gathered, predictions)
    return torch.cat(gathered)
