# Kept: the tests are of the rank, which tuples hold, and a single process is rank 0

import os
import torch
import torch.distributed as dist

distributed = "RANK" in os.environ
if distributed:
    dist.init_process_group("gloo")
    first, seed = dist.get_rank() == 0, dist.get_rank()
else:
    first, seed = True, 0

class Runner:
    def __init__(self):
        self.rank, self.size = (dist.get_rank(), dist.get_world_size()) if distributed else (0, 1)

    def save(self):
        if self.rank == 0:
            torch.save(model.state_dict(), "a.pt")

if first:
    torch.save(model.state_dict(), "b.pt")
Runner().save()
