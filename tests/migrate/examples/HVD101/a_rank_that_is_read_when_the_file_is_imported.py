# Changed: A rank that is read when the file is imported: init stands there, and once is enough.

import os
import torch
import torch.distributed as dist

RANK = int(os.getenv("RANK", -1))

def main():
    if RANK != -1:
        dist.init_process_group("gloo")
    optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)
