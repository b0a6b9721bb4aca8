"""HVD502: a broadcast of a tensor stays in place, its src becomes Horovod's root_rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.collectives import Collective, collectives
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.collectives import in_place
from hvdkit.source.edits import Edit


def check(facts: Facts) -> Iterator[Finding]:
    for call in collectives(facts, "broadcast"):
        problem = call.problem or ("" if {"tensor", "src"} <= set(call.given) else "it names no source rank")
        if problem:
            advice = "write hvd.broadcast_(tensor, root_rank=src), which works in place"
            yield manual("HVD502", call.names, call.node, f"broadcast is left: {problem}", advice)
            continue
        message = "broadcast becomes broadcast_, in place as before"
        yield safe(facts, "HVD502", call.names, call.node, message, _edits, facts, call)


def _edits(facts: Facts, call: Collective) -> list[Edit]:
    how: list[str | ast.expr] = [", root_rank=", call.given["src"]]
    return in_place(facts, call, "broadcast", call.given["tensor"], how)


RULE = Rule(
    id="HVD502",
    title="broadcast becomes broadcast_",
    what="Replaces torch.distributed.broadcast by hvd.broadcast_ (asynchronous: broadcast_async_).",
    why="There is no longer a process group; hvd.broadcast, without the underscore, returns a new tensor.",
    safety=(
        "Safe: same tensor, same source; in a process set, too, the source is counted among all ranks. "
        "Horovod raises on bool, uint8 and bfloat16 tensors and on tensors that are not contiguous."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist

            dist.broadcast(centroids, 0)
            dist.broadcast(src=rank // 8, tensor=flag)
            """,
            """\
            import horovod.torch as hvd

            hvd.broadcast_(centroids, root_rank=0)
            hvd.broadcast_(flag, root_rank=rank // 8)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            torch.broadcast_tensors(a, b)
            """,
            reason="it makes shapes equal and has nothing to do with ranks",
        ),
    ),
)
