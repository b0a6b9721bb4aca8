"""Where a program takes the elements of a set in their order, which differs from process to process.

The hashes of texts are another in each process: https://docs.python.org/3/reference/datamodel.html#object.__hash__
A vocabulary that is numbered so gives one word different numbers on different ranks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.data.random_splits import runs_once
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.source.index.names import Names

ORDERED = ("list", "tuple", "enumerate", "zip", "iter")
SETS = ("set", "frozenset")
MAX_STEPS = 4


def set_orders(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Names, ast.expr]]:
    """The sets that a program of one process lists or numbers once, outside of loops."""
    if program.kind == "ddp":
        return  # its ranks number them apart already, if they are texts
    for names in program.files:
        for called in ORDERED:
            for call in names.calls.get(called, ()):
                if not isinstance(call.func, ast.Name) or names.bindings(called, call):
                    continue  # a method of that name, or the project's own function
                for given in call.args:
                    if _is_set(names, given) and keeps_order(names, call) and runs_once(facts, names, call):
                        yield names, given


def _is_set(names: Names, node: ast.expr, steps: int = 0) -> bool:
    """Whether an expression is a set of things that are not all numbers."""
    if isinstance(node, ast.Set):
        return any(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in node.elts)
    if isinstance(node, ast.Call):
        named = isinstance(node.func, ast.Name) and node.func.id in SETS and bool(node.args)
        return named and not _counts(node.args[0])
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitOr, ast.BitAnd, ast.Sub)):
        return _is_set(names, node.left, steps) or _is_set(names, node.right, steps)
    if isinstance(node, ast.Name) and steps < MAX_STEPS:
        bound = [b.value for b in names.bindings(node.id, node) if b.kind == "assign" and not b.path]
        return bool(bound) and all(b is not None and _is_set(names, b, steps + 1) for b in bound)
    return isinstance(node, ast.SetComp)


def _counts(node: ast.expr) -> bool:
    """`set(range(10))`, and sets of numbers that are written out: their order is the same everywhere."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") == "range"
    numbers = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
    return bool(numbers) and all(
        isinstance(n, ast.Constant) and not isinstance(n.value, str) for n in numbers
    )


def keeps_order(names: Names, call: ast.Call) -> bool:
    """Whether the order of what is listed can be seen: not under `sorted(list(words))` or `len(...)`."""
    around = names.parents[call]
    if isinstance(around, ast.Call) and call in around.args:
        return getattr(around.func, "id", "") not in ("sorted", "len", "sum", "max", "min", *SETS)
    return True
