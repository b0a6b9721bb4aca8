"""HVD503: all_gather, all_gather_into_tensor and gather become Horovod's allgather, which returns its result."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.collective_edits import (
    Part,
    at_once,
    atom,
    detached,
    fresh,
    process_set,
    same_again,
    under,
)
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.collectives import Collective, collectives
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.finding import manual, safe
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

INTO = ("all_gather_into_tensor", "_all_gather_base")
NEEDED = {"all_gather": {"tensor_list", "tensor"}, "gather": {"tensor"}}
FRESH = (
    "zeros",
    "ones",
    "empty",
    "full",
    "zeros_like",
    "ones_like",
    "empty_like",
    "full_like",
    "clone",
    "tensor",
)


def check(facts: Facts) -> Iterator[Finding]:
    for call in collectives(facts, "all_gather", "gather", *INTO):
        needed = NEEDED.get(call.function, {"output_tensor", "input_tensor"})
        problem = call.problem or ("" if needed <= set(call.given) else "its arguments were not understood")
        if problem:
            advice = "hvd.allgather(tensor.unsqueeze(0)) gives a tensor with one row for each rank"
            yield manual("HVD503", call.names, call.node, f"{call.function} is left: {problem}", advice)
            continue
        make = _into if call.function in INTO else _gather if call.function == "gather" else _list
        message = f"{call.function} becomes allgather, whose result is put where it was"
        if call.function == "gather":
            message = "gather becomes allgather: every rank gets all, only the destination uses it"
        yield safe(facts, "HVD503", call.names, call.node, message, make, facts, call)


def _rows(facts: Facts, call: Collective, tensor: ast.expr) -> list[Part]:
    """One row for each rank; a scalar gets a dimension, too."""
    gather = f"{horovod_name(facts, call.names)}.allgather("
    return [gather, *detached(call.names, tensor), ".unsqueeze(0)", *process_set(call), ")"]


def _list(facts: Facts, call: Collective) -> list[Edit]:
    into = call.given["tensor_list"]
    if _uneven(facts, call, into):
        name = call.names.source.segment(into)
        gathered = [
            f"{horovod_name(facts, call.names)}.allgather(",
            *detached(call.names, call.given["tensor"]),
        ]
        sizes = f").split([len(each) for each in {name}])"
        return _copy_rows(call, [into], [*gathered, *process_set(call), sizes])
    rows = _rows(facts, call, call.given["tensor"])
    if _only_new_tensors(facts, call, into):
        return at_once(call, [into, "[:] = ", *rows, ".unbind(0)"])
    # The list may hold views of a larger tensor, or tensors known elsewhere: they have to be filled.
    return _copy_rows(call, [into], rows)


def _copy_rows(call: Collective, into: list[Part], rows: list[Part]) -> list[Edit]:
    names = call.names
    out, row = fresh(names, "output"), fresh(names, "row")
    body = under(names, call.statement)
    return at_once(call, [f"for {out}, {row} in zip(", *into, ", ", *rows, f"):{body}{out}.copy_({row})"])


def _only_new_tensors(facts: Facts, call: Collective, into: ast.expr) -> bool:
    """Whether a list holds nothing but tensors made in the list itself, which nobody else can know."""
    if not isinstance(into, ast.Name):
        return False
    owner = call.names.scope(into).owner(into.id)
    if any(
        isinstance(use.ctx, ast.Load) and use.lineno < call.node.lineno
        for use in call.names.uses[into.id]
        if call.names.scope(use).owner(into.id) is owner
    ):
        return False
    values = facts.flow.values(call.names, into)
    if not values or any(value.kind != "literal" for value in values):
        return False
    for value in values:
        elements = (
            [value.node.elt] if isinstance(value.node, ast.ListComp) else getattr(value.node, "elts", [])
        )
        if not elements or not all(_makes_tensor(element) for element in elements):
            return False
    return True


def _uneven(facts: Facts, call: Collective, into: ast.expr) -> bool:
    """Whether the tensors of a list are made in sizes of their own: `[torch.empty(n) for n in sizes]`."""
    values = facts.flow.values(call.names, into) if same_again(into) else frozenset()
    return any(isinstance(value.node, ast.ListComp) and _sized_apart(value.node) for value in values)


def _sized_apart(made: ast.ListComp) -> bool:
    """Whether a loop's variable is among the arguments by place of what makes a tensor."""
    targets = [part for loop in made.generators for part in ast.walk(loop.target)]
    names = {part.id for part in targets if isinstance(part, ast.Name)}
    node: ast.AST = made.elt
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in FRESH:
            sizes = [*node.args, *(item.value for item in node.keywords if item.arg == "size")]
            return any(isinstance(p, ast.Name) and p.id in names for size in sizes for p in ast.walk(size))
        node = node.func.value
    return False


def _makes_tensor(node: ast.expr) -> bool:
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in FRESH:
            return True
        node = node.func.value
    return False


def _into(facts: Facts, call: Collective) -> list[Edit]:
    out, tensor = call.given["output_tensor"], call.given["input_tensor"]
    gather = f"{horovod_name(facts, call.names)}.allgather("
    rows: list[Part] = [gather, *detached(call.names, tensor), *process_set(call), ")"]
    if not same_again(out):
        raise edits.CannotEdit("its output is an expression that must not be evaluated twice")
    name = call.names.source.segment(out)
    return at_once(call, [*atom(out), ".copy_(", *rows, f".view_as({name}))"])


def _gather(facts: Facts, call: Collective) -> list[Edit]:
    into = call.given.get("gather_list")
    rows = _rows(facts, call, call.given["tensor"])
    if into is None:
        return at_once(call, rows)
    filled: list[Part] = (
        [*atom(into)] if isinstance(into, (ast.List, ast.ListComp)) else ["(", into, " or ())"]
    )
    return _copy_rows(call, filled, rows)


RULE = Rule(
    id="HVD503",
    title="all_gather becomes allgather",
    what=(
        "Replaces torch.distributed.all_gather, all_gather_into_tensor and gather by hvd.allgather, and puts what "
        "it returns where torch puts it."
    ),
    why=(
        "hvd.allgather returns one tensor, joined along the first dimension, which a scalar does not have; torch "
        "fills the tensors of a list."
    ),
    safety=(
        "Safe: same values in the same places. The input is detached, since Horovod's gather passes gradients on "
        "and torch's does not. A list that was made of new tensors gets new contents; any other list, which may "
        "hold views of a larger tensor, is filled tensor by tensor. Tensors are of one shape, as torch asks for; where "
        "the list is made with a size for each, which NCCL takes, what all ranks gave is split by their lengths, and "
        "the other dimensions have to be the same. gather costs every rank the memory that only "
        "the destination used."
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
