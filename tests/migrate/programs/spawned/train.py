"""A DDP program that starts its own processes, with ranks by arithmetic. Writes RESULTS.RANK."""

import argparse
import json
import os
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("--nodes", default=1, type=int)
parser.add_argument("--node", default=0, type=int)
parser.add_argument("--gpus", default=2, type=int)
parser.add_argument("--batch-size", default=16, type=int)
parser.add_argument("--multiprocessing-distributed", action="store_true")


def main():
    args = parser.parse_args()
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = "29717"
    per_node = args.gpus
    args.distributed = args.nodes > 1 or args.multiprocessing_distributed
    if args.multiprocessing_distributed:
        args.world = per_node * args.nodes
        mp.spawn(worker, nprocs=per_node, args=(per_node, args))
    else:
        worker(0, per_node, args)


def worker(gpu, per_node, args):
    args.rank = args.node * per_node + gpu
    if args.distributed:
        dist.init_process_group("gloo", rank=args.rank, world_size=args.world)
        args.batch_size = int(args.batch_size / per_node)
    torch.manual_seed(args.rank)
    model = torch.nn.Linear(4, 1)
    if args.distributed:
        model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        loss = model(torch.randn(args.batch_size, 4)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    weights = [p.tolist() for p in model.parameters()]
    with Path(f"{os.environ['RESULTS']}.{args.rank}").open("w") as file:
        json.dump([args.rank, args.world, args.batch_size, weights], file)
    if args.distributed:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
