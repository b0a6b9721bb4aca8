"""Every collective that a rule rewrites, each result kept; writes them to RESULTS.rank as JSON."""

import json
import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp


def reduced(value, op=ReduceOp.SUM):
    dist.all_reduce(value, op=op)
    return value


def main():
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    results = {}

    def keep(name, value):
        results[name] = value.tolist() if torch.is_tensor(value) else value

    row = torch.tensor([1.5, 2.5]) * (rank + 1)
    for name, op in (("sum", ReduceOp.SUM), ("max", ReduceOp.MAX), ("product", ReduceOp.PRODUCT)):
        keep(f"all_reduce {name}", reduced(row.clone(), op))
    weight = torch.nn.Parameter(torch.ones(2))
    loss = (weight * row).sum()
    dist.all_reduce(loss)
    loss.backward()
    keep("all_reduce a loss", loss.detach())
    keep("its gradient", weight.grad)

    first, second = row.clone(), row.clone() + rank
    work = dist.all_reduce(first, async_op=True)
    work.wait()
    handles = []
    for tensor in (first, second):
        handles.append(dist.all_reduce(tensor, async_op=True))
    for handle in handles:
        handle.wait()
    keep("asynchronous", torch.stack([first, second]))

    total = row.clone()
    dist.reduce(total, 0)
    if rank == 0:
        keep("reduce", total)
    sent = row.clone()
    dist.broadcast(sent, src=1)
    keep("broadcast", sent)

    gathered = [torch.zeros_like(row) for _ in range(size)]
    dist.all_gather(gathered, row * weight)
    keep("all_gather", torch.stack(gathered))
    keep("all_gather has no gradient", gathered[0].requires_grad)
    whole = torch.zeros(size, 2)
    parts = list(whole.unbind(0))
    work = dist.all_gather(parts, row, async_op=True)
    work.wait()
    keep("all_gather into views", whole)
    scalars = [torch.zeros(()) for _ in range(size)]
    dist.all_gather(scalars, torch.tensor(float(rank)))
    keep("all_gather of scalars", torch.stack(scalars))
    flat = torch.zeros(size * 2)
    dist.all_gather_into_tensor(flat, row)
    keep("all_gather_into_tensor", flat)
    at_root = [torch.zeros_like(row) for _ in range(size)] if rank == 0 else None
    dist.gather(row, gather_list=at_root, dst=0)
    keep("gather", torch.stack(at_root) if at_root else None)

    objects = [None] * size
    dist.all_gather_object(objects, {"rank": rank} if rank else "zero")
    keep("all_gather_object", objects)
    box = [rank, "x"]
    dist.broadcast_object_list(box, src=1)
    keep("broadcast_object_list", box)
    everyone = [None] * size if rank == 1 else None
    dist.gather_object([rank], everyone, dst=1)
    keep("gather_object", everyone)
    mine = [None]
    dist.scatter_object_list(mine, ["a", "b"] if rank == 0 else None, src=0)
    keep("scatter_object_list", mine)

    keep("backend", dist.get_backend())

    Path(f"{os.environ['RESULTS']}.{rank}").write_text(json.dumps(results, sort_keys=True))
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
