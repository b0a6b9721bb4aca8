# Kept: rank 0 makes it

import os
import torch
import torch.distributed as dist

if dist.get_rank() == 0 and not os.path.exists("out"):
    os.makedirs("out")
loss.backward()
