"""How all_gather, all_gather_into_tensor and gather are turned into Horovod's allgather."""

from __future__ import annotations

import ast

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.collectives import Collective
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.rewrites.collectives import (
    Part,
    at_once,
    atom,
    detached,
    fresh,
    process_set,
    same_again,
    under,
)
from hvdkit.source.edits import Edit

INTO = ("all_gather_into_tensor", "_all_gather_base")
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


def gathered(facts: Facts, call: Collective) -> list[Edit]:
    """The call of a gather as allgather, with what it returns put where torch put it. Raises CannotEdit."""
    if call.function in INTO:
        return _into(facts, call)
    return _gather(facts, call) if call.function == "gather" else _list(facts, call)


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
