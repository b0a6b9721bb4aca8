"""Programs for jobs of their own: one argument says which. They hang, fail, or need two nodes."""

from __future__ import annotations

import os
import sys
import time
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


def _trained(shares: list[int], fixed: bool, leave_below: float) -> None:
    """A step for each element of this rank's share, until its loss is below a bound."""
    hvd.init()
    model = torch.nn.Linear(3, 1)
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.01))
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    for _ in range(shares[0 if fixed else hvd.rank()]):
        optimizer.zero_grad()
        loss = (model(torch.ones(1, 3)) ** 2).sum() * 0 + hvd.rank()
        loss.backward()
        optimizer.step()
        if (hvd.allreduce(loss, name="loss") if fixed else loss).item() < leave_below:
            break
    print("trained", flush=True)


def uneven(fixed: bool) -> None:
    """HVD817: one rank has an element more."""
    _trained([4, 3], fixed, leave_below=-1.0)


def leave_apart(fixed: bool) -> None:
    """HVD873: the loss is 0 on rank 0, 1 on rank 1 and 0.5 on average."""
    _trained([4, 4], fixed, leave_below=0.3)


def workers(fixed: bool) -> None:
    """HVD855: what a worker imports starts Horovod, or is under a main guard."""
    guard = 'if __name__ == "__main__":' if fixed else "if True:"
    path = Path(sys.argv[3]) / f"train_{fixed}.py"
    if os.environ["HOROVOD_RANK"] == "0":
        path.with_suffix(".new").write_text(STARTS_WORKERS.format(guard=guard))
        path.with_suffix(".new").rename(path)
    while not path.exists():
        time.sleep(0.05)
    os.execv(sys.executable, [sys.executable, str(path)])


STARTS_WORKERS = """\
import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader

{guard}
    hvd.init()
    batches = list(DataLoader(torch.ones(4), num_workers=1, multiprocessing_context="spawn"))
    print("drawn", float(hvd.allreduce(torch.stack(batches).sum(), op=hvd.Sum)), flush=True)
"""


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
        programs = (rank_test, unnamed, before_init, uneven, leave_apart, workers)
        {program.__name__: program for program in programs}[sys.argv[1]](sys.argv[2] == "fixed")
