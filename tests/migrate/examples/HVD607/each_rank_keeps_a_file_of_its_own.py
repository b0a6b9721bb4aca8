# Kept: each rank keeps a file of its own: its rank is in the path that the table is given
# Options: --suggested

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

class Table:
    def __init__(self, path):
        self.path = path

    def add(self, row):
        with open(self.path, "a") as file:
            file.write(row)

dist.init_process_group("nccl")
model = DDP(net)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
table = Table(f"log_r{dist.get_rank()}.csv")
loss.backward()
optimizer.step()
table.add("done")
