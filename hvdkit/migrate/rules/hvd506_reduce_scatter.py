"""HVD506: reduce_scatter and reduce_scatter_tensor become reducescatter, whose result is copied to the output."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.collective_edits import Part, at_once, atom, detached, process_set, same_again
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.collectives import Collective, collectives, reduction
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.finding import manual, safe
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

TENSORS = ("reduce_scatter_tensor", "_reduce_scatter_base")
HAS = ("Sum", "Average")


def check(facts: Facts) -> Iterator[Finding]:
    for call in collectives(facts, "reduce_scatter", *TENSORS):
        operation = reduction(facts, call.names, call.given.get("op"))
        problem = call.problem
        if operation not in HAS:
            problem = problem or "Horovod's reducescatter has the sum and the average only"
        elif not {"output", "input" if call.function in TENSORS else "input_list"} <= set(call.given):
            problem = problem or "its arguments were not understood"
        if problem:
            advice = "hvd.reducescatter(tensor, op=hvd.Sum) returns this rank's part of the first dimension"
            yield manual("HVD506", call.names, call.node, f"{call.function} is left: {problem}", advice)
            continue
        message = f"{call.function} becomes reducescatter, op={operation}"
        yield safe(facts, "HVD506", call.names, call.node, message, _edits, facts, call, operation)


def _edits(facts: Facts, call: Collective, operation: str) -> list[Edit]:
    names, out = call.names, call.given["output"]
    if not same_again(out):
        raise edits.CannotEdit("its output is an expression that must not be evaluated twice")
    if call.function in TENSORS:
        given = detached(names, call.given["input"])
    else:
        given = [f"{_torch(names)}.stack(", call.given["input_list"], ").detach()"]
    hvd, name = horovod_name(facts, names), names.source.segment(out)
    parts: list[Part] = [*atom(out), f".copy_({hvd}.reducescatter(", *given, f", op={hvd}.{operation}"]
    return at_once(call, [*parts, *process_set(call), f").view_as({name}))"])


def _torch(names: Names) -> str:
    """The name under which a file has torch itself."""
    for name, bindings in names.module.names.items():
        if any(binding.kind == "import" and binding.qualified == "torch" for binding in bindings):
            return name
    raise edits.CannotEdit("the file does not import torch by itself")


RULE = Rule(
    id="HVD506",
    title="reduce_scatter becomes reducescatter",
    what="Replaces reduce_scatter and reduce_scatter_tensor by hvd.reducescatter with the reduction written out.",
    why="torch sums by default and fills its output; Horovod averages by default and returns a new tensor.",
    safety="Safe: same values in the same tensor. Horovod has the sum and the average only.",
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
