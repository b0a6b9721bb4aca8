"""HVD505: a reduce to one rank becomes allreduce_: every rank gets what only the destination got."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.decisions.collectives import reduces
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding

ADVICE = "write hvd.allreduce_(tensor, op=hvd.Sum) and use the result on the destination only"


def check(facts: Facts) -> Iterator[Finding]:
    for decision in reduces(facts):
        names, node = decision.call.names, decision.call.node
        if decision.problem:
            yield manual("HVD505", names, node, f"reduce is left: {decision.problem}", ADVICE)
            continue
        message = "reduce becomes allreduce_: other ranks' tensors, undefined under torch, get the result too"
        yield safe(facts, "HVD505", names, node, message, decision.made)


RULE = Rule(
    id="HVD505",
    title="reduce becomes allreduce_",
    what="Replaces torch.distributed.reduce by hvd.allreduce_ with the reduction written out.",
    why="Horovod has no reduction to one rank.",
    safety=(
        "Safe: the destination gets the same value. The other ranks' tensors, which torch leaves undefined, get "
        "it as well."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist

            dist.reduce(loss.div_(args.world_size), 0)
            dist.reduce(stacked, dst=0, op=dist.ReduceOp.MAX)
            """,
            """\
            import horovod.torch as hvd

            hvd.allreduce_(loss.div_(args.world_size), op=hvd.Sum)
            hvd.allreduce_(stacked, op=hvd.Max)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            from functools import reduce

            reduce(add, losses)
            """,
            reason="functools' reduce has nothing to do with ranks",
        ),
    ),
)
