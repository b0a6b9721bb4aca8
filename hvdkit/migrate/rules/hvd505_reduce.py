"""HVD505: a reduce to one rank becomes allreduce_: every rank gets what only the destination got."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.collective_edits import in_place
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.collectives import Collective, collectives, passes_reduction, reduction
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.finding import manual, safe
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    for call in collectives(facts, "reduce"):
        asked = call.given.get("op")
        operation = reduction(facts, call.names, asked)
        problem = call.problem or ("" if "tensor" in call.given else "its tensor was not found")
        if operation is None and (asked is None or not passes_reduction(facts, call.names, asked)):
            problem = problem or "Horovod has no such reduction, or it is decided where it cannot be followed"
        if problem:
            advice = "write hvd.allreduce_(tensor, op=hvd.Sum) and use the result on the destination only"
            yield manual("HVD505", call.names, call.node, f"reduce is left: {problem}", advice)
            continue
        message = "reduce becomes allreduce_: other ranks' tensors, undefined under torch, get the result too"
        yield safe(facts, "HVD505", call.names, call.node, message, _edits, facts, call, operation)


def _edits(facts: Facts, call: Collective, operation: str | None) -> list[Edit]:
    hvd = horovod_name(facts, call.names)
    how: list[str | ast.expr] = [f", op={hvd}.{operation}"] if operation else [", op=", call.given["op"]]
    return in_place(facts, call, "allreduce", call.given["tensor"], how)


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
