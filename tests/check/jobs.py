"""Programs for jobs of their own: one argument says which. They hang, fail, or need two nodes."""

from __future__ import annotations

import sys
from pathlib import Path

import horovod.torch as hvd
import torch
from torch.utils.data import DistributedSampler


def rank_test(fixed: bool) -> None:
    """HVD805: rank 0 alone comes to the reduction."""
    hvd.init()
    if fixed or hvd.rank() == 0:
        print("reduced", float(hvd.allreduce(torch.ones(1), op=hvd.Sum)), flush=True)


def unnamed(fixed: bool) -> None:
    """HVD821: two optimizers without names, both with gradients on their way."""
    hvd.init()
    first, second = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
    named = [None, None]
    if fixed:
        named = [model.named_parameters(prefix=str(i)) for i, model in enumerate((first, second))]
    a = hvd.DistributedOptimizer(torch.optim.SGD(first.parameters(), lr=0.1), named[0])
    b = hvd.DistributedOptimizer(torch.optim.SGD(second.parameters(), lr=0.1), named[1])
    x = torch.ones(1, 3)
    if hvd.rank() == 1:
        hvd.barrier()  # rank 0 has both of its gradients on their way before this rank has any
    first(x).sum().backward()
    second(x).sum().backward()
    if hvd.rank() == 0:
        hvd.barrier()
    a.step()
    b.step()
    print("stepped", flush=True)


def before_init(fixed: bool) -> None:
    """HVD853: a rank is asked for too early."""
    if fixed:
        hvd.init()
    print("rank", hvd.rank(), flush=True)


def two_nodes(folder: Path) -> None:
    """HVD812, HVD850, HVD860: what hvd.local_rank() and hvd.rank() give, one rank on each of two nodes."""
    hvd.init()
    data = list(range(8))
    by_local = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.local_rank(), shuffle=False)  # type: ignore[arg-type]
    by_rank = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False)  # type: ignore[arg-type]
    devices = hvd.local_size()  # as many as ranks, on each node
    found = {
        "local share": list(by_local),
        "share": list(by_rank),
        "device by rank exists": hvd.rank() < devices,
        "device by local rank exists": hvd.local_rank() < devices,
        "writes by local rank": hvd.local_rank() == 0,
        "writes by rank": hvd.rank() == 0,
    }
    (folder / f"{hvd.rank()}.txt").write_text(repr(found))


if __name__ == "__main__":
    if sys.argv[1] == "two_nodes":
        two_nodes(Path(sys.argv[2]))
    else:
        {"rank_test": rank_test, "unnamed": unnamed, "before_init": before_init}[sys.argv[1]](
            sys.argv[2] == "fixed"
        )
