"""HVD506: reduce_scatter and reduce_scatter_tensor become reducescatter, whose result is copied to the output."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.decisions.collectives import reduce_scatters
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding

ADVICE = "hvd.reducescatter(tensor, op=hvd.Sum) returns this rank's part of the first dimension"


def check(facts: Facts) -> Iterator[Finding]:
    for decision in reduce_scatters(facts):
        call = decision.call
        if decision.problem:
            message = f"{call.function} is left: {decision.problem}"
            yield manual("HVD506", call.names, call.node, message, ADVICE)
            continue
        message = f"{call.function} becomes reducescatter, op={decision.operation}"
        yield safe(facts, "HVD506", call.names, call.node, message, decision.made)


RULE = Rule(
    id="HVD506",
    title="reduce_scatter becomes reducescatter",
    what="Replaces reduce_scatter and reduce_scatter_tensor by hvd.reducescatter with the reduction written out.",
    why="torch sums by default and fills its output; Horovod averages by default and returns a new tensor.",
    safety="Safe: same values in the same tensor. Horovod supports only sum and average.",
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist

            dist.reduce_scatter_tensor(part, whole)
            """,
            """\
            import horovod.torch as hvd

            part.copy_(hvd.reducescatter(whole.detach(), op=hvd.Sum).view_as(part))
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch.distributed as dist

            dist.reduce_scatter_tensor(part, whole, op=dist.ReduceOp.MAX)
            """,
            reason="Horovod's reducescatter has no maximum",
            reported=True,
        ),
    ),
)
