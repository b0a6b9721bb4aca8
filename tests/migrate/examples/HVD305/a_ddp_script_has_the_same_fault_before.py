# Changed: A DDP script has the same fault before.
# Options: --suggested

import torch
import torch.distributed as dist
from torch.utils.data import random_split

dist.init_process_group("gloo")
train, test = random_split(data, [90, 10])
for x in train:
    model(x).sum().backward()
