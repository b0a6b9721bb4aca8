"""Demonstrations that are started one after the other by one function. Writes RESULTS.RANK."""

import json
import os
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel


def setup(rank, world_size):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = "29718"
    dist.init_process_group("gloo", rank=rank, world_size=world_size)


def cleanup():
    dist.destroy_process_group()


def trained(seed):
    torch.manual_seed(seed)
    model = DistributedDataParallel(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(8, 4)).square().mean().backward()
        optimizer.step()
    return [p.tolist() for p in model.parameters()]


def demo_basic(rank, world_size):
    setup(rank, world_size)
    with Path(f"{os.environ['RESULTS']}.{rank}").open("w") as file:
        json.dump([trained(rank)], file)
    cleanup()


def demo_again(rank, world_size):
    setup(rank, world_size)
    path = Path(f"{os.environ['RESULTS']}.{rank}")
    first = json.loads(path.read_text())
    with path.open("w") as file:
        json.dump([*first, trained(rank + world_size)], file)
    cleanup()


def run_demo(demo, world_size):
    mp.spawn(demo, args=(world_size,), nprocs=world_size, join=True)


if __name__ == "__main__":
    run_demo(demo_basic, 2)
    run_demo(demo_again, 2)
