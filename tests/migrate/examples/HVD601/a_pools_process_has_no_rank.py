# Kept: a pool's process has no rank, and each rank writes what it made of its own share
# Options: --suggested

import multiprocessing
import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

def export(scores, path):
    np.savez(path, scores)

dist.init_process_group("gloo")
model = DDP(net)
loss.backward()
mine = cases[dist.get_rank()::dist.get_world_size()]
with multiprocessing.get_context("spawn").Pool(2) as pool:
    for case in mine:
        pool.starmap_async(export, ((model(case), f"results/{case}"),))
for case in mine:
    name = f"scores/{case}"
    np.savez(name, model(case))
