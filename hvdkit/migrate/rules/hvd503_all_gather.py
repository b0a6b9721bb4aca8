"""HVD503: all_gather, all_gather_into_tensor and gather become Horovod's allgather, which returns its result."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.decisions.collectives import gathers
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding

ADVICE = "hvd.allgather(tensor.unsqueeze(0)) gives a tensor with one row for each rank"


def check(facts: Facts) -> Iterator[Finding]:
    for decision in gathers(facts):
        call = decision.call
        if decision.problem:
            message = f"{call.function} is left: {decision.problem}"
            yield manual("HVD503", call.names, call.node, message, ADVICE)
            continue
        message = f"{call.function} becomes allgather, whose result is stored in the same place"
        if call.function == "gather":
            message = "gather becomes allgather: every rank gets all, only the destination uses it"
        yield safe(facts, "HVD503", call.names, call.node, message, decision.made)


RULE = Rule(
    id="HVD503",
    title="all_gather becomes allgather",
    what=(
        "Replaces torch.distributed.all_gather, all_gather_into_tensor and gather by hvd.allgather, and "
        "stores the result where torch stores it."
    ),
    why=(
        "hvd.allgather returns one tensor, joined along the first dimension, which a scalar does not have; "
        "torch fills the tensors of a list."
    ),
    safety=(
        "Safe: same values in the same places. The input is detached, since Horovod's gather passes "
        "gradients back and torch's does not. A list of new tensors gets new contents; any other list, "
        "which may hold views of a larger tensor, is filled tensor by tensor. Tensors have the same shape, "
        "as torch requires; where the list is created with a size for each, which NCCL accepts, the "
        "gathered tensor is split by their lengths, and the other dimensions must be the same. gather "
        "now costs every rank the memory that only the destination used."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist

            dist.all_gather_into_tensor(everything, mine + 1)
            """,
            """\
            import horovod.torch as hvd

            everything.copy_(hvd.allgather((mine + 1).detach()).view_as(everything))
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            torch.gather(x, 1, index)
            """,
            reason="picking elements by index has nothing to do with ranks",
        ),
    ),
)
