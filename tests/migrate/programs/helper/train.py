"""A training script whose launch code is in a helper module. Writes RESULTS.RANK."""

import argparse
import json
import os
from pathlib import Path

import tools
import torch


def main(args):
    tools.init_distributed_mode(args)
    torch.manual_seed(tools.get_rank())
    model = torch.nn.Linear(4, 1)
    if args.distributed:
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        loss = model(torch.randn(8, 4)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    weights = [p.tolist() for p in model.parameters()]
    with Path(f"{os.environ['RESULTS']}.{tools.get_rank()}").open("w") as file:
        json.dump([args.distributed, tools.get_world_size(), weights], file)
    if args.distributed:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--world_size", default=1, type=int)
    parser.add_argument("--local_rank", default=-1, type=int)
    parser.add_argument("--dist_url", default="env://")
    main(parser.parse_args())
