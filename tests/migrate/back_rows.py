"""Trainings with Horovod, one for each construct that has a form on torch.distributed.

Each leaves in RESULTS/NAME.RANK what it computed: tensors, and the names of the weights in a checkpoint.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """A training. tolerance: how far DDP's floats may be from Horovod's; 0 for the same bits.

    parts: Horovod's own ranks part there; those of the result do not.
    """

    name: str
    text: str
    tolerance: float = 0.0
    parts: bool = False


PRELUDE = """\
import os
import sys

import torch
import horovod.torch as hvd

hvd.init()
torch.manual_seed(1 + hvd.rank())
results = os.environ["RESULTS"]


def net(*more):
    return torch.nn.Sequential(torch.nn.Linear(4, 8), *more, torch.nn.ReLU(), torch.nn.Linear(8, 2))


def leave(name, *tensors, **others):
    kept = [[tensor.detach() for tensor in tensors], others]
    torch.save(kept, os.path.join(results, f"{name}.{hvd.rank()}"))

"""
TRAINED = """
model = net({more})
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters(){options})
for step in range(4):
    optimizer.zero_grad()
    for _ in range({passes}):
        model(torch.randn(6, 4)).pow(2).mean().backward()
    {before}
    optimizer.step()
leave("{name}", *model.state_dict().values(), keys=list(model.state_dict()))
"""


def trained(name: str, more: str = "", options: str = "", passes: int = 1, before: str = "pass") -> str:
    """A training of one model in four steps."""
    return TRAINED.format(name=name, more=more, options=options, passes=passes, before=before)


ROWS = (
    Row("plain", trained("plain")),
    Row("batch_norm", trained("batch_norm", more="torch.nn.BatchNorm1d(8)")),
    Row("fp16", trained("fp16", options=", compression=hvd.Compression.fp16"), tolerance=1e-6),
    Row("predivide", trained("predivide", options=", gradient_predivide_factor=2.0")),
    Row("summed", trained("summed", options=", op=hvd.Sum")),
    Row("passes", trained("passes", options=", backward_passes_per_step=2", passes=2), tolerance=1e-6),
    Row(
        "clipped",
        trained("clipped", before="optimizer.synchronize()").replace(
            "    optimizer.step()",
            "    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01)\n"
            "    with optimizer.skip_synchronize():\n        optimizer.step()",
        ),
    ),
    Row(
        "two_models",
        """
one, two = net(), net()
optimizer = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.05)
optimizer = hvd.DistributedOptimizer(optimizer)
hvd.broadcast_parameters(one.state_dict(), root_rank=0)
hvd.broadcast_parameters(two.state_dict(), root_rank=0)
for step in range(4):
    optimizer.zero_grad()
    x = torch.randn(6, 4)
    (one(x) * two(x)).mean().backward()
    optimizer.step()
leave("two_models", *one.state_dict().values(), *two.state_dict().values())
""",
    ),
    Row(
        "resumed",
        """
model = net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5 if hvd.rank() else 0.05, momentum=0.9)
path = os.path.join(results, "checkpoint")
if hvd.rank() == 0:
    torch.save(net().state_dict(), path)
    model.load_state_dict(torch.load(path))
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
hvd.broadcast_optimizer_state(optimizer, root_rank=0)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
epoch = hvd.broadcast(torch.tensor(3 if hvd.rank() == 0 else 0), root_rank=0, name="epoch").item()
for step in range(epoch):
    optimizer.zero_grad()
    model(torch.randn(6, 4)).pow(2).mean().backward()
    optimizer.step()
leave("resumed", *model.state_dict().values(), rate=optimizer.param_groups[0]["lr"], epoch=epoch)
""",
    ),
    Row(
        "by_hand",
        """
model = net()
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(4):
    optimizer.zero_grad()
    model(torch.randn(6, 4)).pow(2).mean().backward()
    for parameter in model.parameters():
        hvd.allreduce_(parameter.grad, name="gradient")
    optimizer.step()
leave("by_hand", *model.state_dict().values())
""",
    ),
    Row(
        "started",
        """
def reduced(tensor, op):
    return hvd.allreduce(tensor, op=op)


def meaned(tensor, average):
    return hvd.allreduce_(tensor, average=average)


mine = torch.arange(4.0) * (1 + hvd.rank())
mean = hvd.allreduce_async(mine, name="mean")
total = hvd.allreduce_async_(mine.clone(), op=hvd.Sum, name="total")
whole = hvd.allreduce_async(torch.tensor([1, -4]) + 2 * hvd.rank(), name="whole")
rows = hvd.allgather_async(torch.ones(1 + hvd.rank(), 2) * hvd.rank(), name="rows")
sent = hvd.broadcast_async(mine, 1, name="sent")
placed = torch.ones(2) * hvd.rank()
handle = hvd.broadcast_async_(placed, root_rank=1, name="placed")
found = [hvd.synchronize(each) for each in (mean, total, whole, rows, sent)]
while not hvd.poll(handle):
    pass
hvd.synchronize(handle)
both = reduced(mine, hvd.Sum), reduced(mine, hvd.Average), reduced(mine, hvd.Max)
means = meaned(mine.clone(), False), meaned(mine.clone(), True)
leave("started", mine, *found, placed, *both, *means, again=hvd.synchronize(handle))
""",
    ),
    Row(
        "may_be_missing",
        trained("may_be_missing").replace(
            "model =",
            "try:\n    import horovod.torch as hvd\n    parallel = True\n"
            "except ImportError:\n    parallel = False\n    class hvd:\n        pass\nmodel =",
            1,
        )
        + "assert parallel\n",
    ),
    Row(
        "collectives",
        """
mine = torch.tensor([1, 4, -3]) + 2 * hvd.rank()
weight = torch.ones(2, requires_grad=True)
(hvd.allreduce(weight * (1 + hvd.rank())) * torch.tensor([2.0, 3.0])).sum().backward()
rows = torch.arange(3 + 2 * hvd.rank(), dtype=torch.float32, requires_grad=True)
(hvd.allgather(rows) * torch.arange(8.0) * (1 + hvd.rank())).sum().backward()
none = hvd.allgather(torch.ones(hvd.rank(), 2))
kept = torch.ones(2) * hvd.rank()
hvd.allreduce(kept)
placed = hvd.allreduce_(torch.ones(2) * hvd.rank(), op=hvd.Sum)
sent = torch.ones(2) * hvd.rank()
hvd.broadcast_(sent, root_rank=1)
greatest = hvd.allreduce(torch.tensor(1.0 + hvd.rank()), op=hvd.Max)
objects = hvd.allgather_object({"rank": hvd.rank()}), hvd.broadcast_object(["of", hvd.rank()], root_rank=1)
hvd.barrier()
numbers = hvd.size(), hvd.local_rank(), hvd.local_size(), hvd.cross_rank(), hvd.cross_size()
means = hvd.allreduce(mine), hvd.allreduce(mine, average=False), greatest
tensors = [*means, weight.grad, rows.grad, none, kept, placed, sent]
leave("collectives", *tensors, objects=objects, numbers=numbers)
""",
    ),
)
