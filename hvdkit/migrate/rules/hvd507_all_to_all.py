"""HVD507: all_to_all_single becomes alltoall, whose result is copied to the output."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.collectives import Collective, collectives
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rewrites.collectives import Part, at_once, atom, detached, process_set, same_again


def check(facts: Facts) -> Iterator[Finding]:
    for call in collectives(facts, "all_to_all_single"):
        problem = call.problem
        if not {"output", "input"} <= set(call.given):
            problem = problem or "its arguments were not understood"
        elif {"output_split_sizes", "input_split_sizes"} & set(call.given):
            problem = problem or "its parts are of different sizes"
        if problem:
            advice = (
                "hvd.alltoall(input, splits=torch.tensor(input_split_sizes, dtype=torch.int32)) returns the "
                "output and the sizes received"
            )
            yield manual("HVD507", call.names, call.node, f"all_to_all_single is left: {problem}", advice)
            continue
        message = "all_to_all_single becomes alltoall, whose result is copied to the output"
        yield safe(facts, "HVD507", call.names, call.node, message, _edits, facts, call)


def _edits(facts: Facts, call: Collective) -> list[Edit]:
    names, out = call.names, call.given["output"]
    if not same_again(out) or isinstance(out, ast.Subscript):
        raise edits.CannotEdit("its output is an expression that must not be evaluated twice")
    hvd, name = horovod_name(facts, names), names.source.segment(out)
    parts: list[Part] = [*atom(out), f".copy_({hvd}.alltoall(", *detached(names, call.given["input"])]
    return at_once(call, [*parts, *process_set(call), f").view_as({name}))"])


RULE = Rule(
    id="HVD507",
    title="all_to_all_single becomes alltoall",
    what="Replaces torch.distributed.all_to_all_single with parts of equal sizes by hvd.alltoall.",
    why="There is no longer a process group, and Horovod returns what torch writes into its output.",
    safety="Safe for parts of equal sizes. Others are left to you: hvd.alltoall requires int32 sizes.",
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist

            dist.all_to_all_single(received, sent)
            """,
            """\
            import horovod.torch as hvd

            received.copy_(hvd.alltoall(sent.detach()).view_as(received))
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd

            received = hvd.alltoall(sent)
            """,
            reason="it is Horovod's already",
        ),
    ),
)
