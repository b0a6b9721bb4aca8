# Changed: The variables of the loop take names that are free; under no_grad nothing is detached.

import torch
import torch.distributed as dist

def gather(x, outputs, row):
    output = row
    with torch.no_grad():
        dist.all_gather(outputs, x)
    return output
