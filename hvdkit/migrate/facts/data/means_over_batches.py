"""What is added up over a loader's batches, and the number of all samples that it is divided by."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Union

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.loops import Loop, training_loops
from hvdkit.migrate.facts.data.computed_over_data import COLLECTS
from hvdkit.migrate.facts.data.loaders import Loader, every_loader
from hvdkit.migrate.facts.facts import Facts
from hvdkit.source.index.names import Names

Division = Union[ast.BinOp, ast.AugAssign]
DIVIDES = (ast.Div, ast.FloorDiv)
NUMBERS = frozenset(("float", "int"))
TELLS = frozenset(
    ("print", "write", "info", "debug", "log", "set_description", "set_description_str", "set_postfix_str")
)


@dataclass(frozen=True)
class Count:
    """The number of samples of a whole data set, where a loop over a loader is meant.

    number: the expression. loader: the loader, as the loop has it.
    """

    names: Names
    number: ast.expr
    loader: ast.expr


def whole_counts(facts: Facts, loaders: Collection[Loader]) -> Iterator[Count]:
    """The counts of all samples that a sum over one of these loaders is divided by, or told beside."""
    for names in facts.files if loaders else ():
        divisions: list[Division] = [*names.of_kind(ast.BinOp), *names.of_kind(ast.AugAssign)]
        divisions = [division for division in divisions if isinstance(division.op, DIVIDES)]
        for loop in names.of_kind(ast.For):
            loader = _over(facts, names, loop, loaders)
            if loader is None:
                continue
            sums = _added_up(names, loop)
            for division in divisions:
                if names.function(division) is names.function(loop) and _holds(names, loader, division):
                    number = _divisor(division)
                    if sums & _read(division) and _is_whole(facts, names, number, loaders):
                        yield Count(names, number, loader)
            for number in _told(names, loop):
                if _is_whole(facts, names, number, loaders):
                    yield Count(names, number, loader)


def _over(facts: Facts, names: Names, loop: ast.For, loaders: Collection[Loader]) -> ast.expr | None:
    """The loader that a loop goes through, as it is written: one of these, or one that counts alike."""
    drawn = training_loops(facts).loaders_of(Loop(names, loop))
    if not any(loader.value in drawn for loader in loaders):
        return None
    known = {loader.value: loader for loader in every_loader(facts)}
    if any(value not in known or known[value].batch_sampler is not None for value in drawn):
        return None
    parts = (
        part for part in names.walk(loop.iter) if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript))
    )
    return next((part for part in parts if drawn & facts.flow.values(names, part)), None)


def _added_up(names: Names, loop: ast.For) -> set[str]:
    """What a loop adds to, as it is written: `total += loss.item()`, `losses.append(loss)`."""
    found: set[str] = set()
    for part in names.walk(loop):
        if isinstance(part, ast.AugAssign) and isinstance(part.op, ast.Add):
            found.add(ast.unparse(part.target))
        elif isinstance(part, ast.Assign) and isinstance(part.value, ast.BinOp):
            operands = {ast.unparse(part.value.left), ast.unparse(part.value.right)}
            found |= operands & {ast.unparse(target) for target in part.targets}
        elif (
            isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in COLLECTS
        ):
            found.add(ast.unparse(part.func.value))
    return found


def _divisor(division: Division) -> ast.expr:
    """What is divided by, out of `float(...)`."""
    number = division.right if isinstance(division, ast.BinOp) else division.value
    while (
        isinstance(number, ast.Call)
        and isinstance(number.func, ast.Name)
        and number.func.id in NUMBERS
        and len(number.args) == 1
    ):
        number = number.args[0]
    return number


def _read(division: Division) -> set[str]:
    """What is divided, and its parts, as they are written."""
    divided = division.left if isinstance(division, ast.BinOp) else division.target
    parts = (part for part in ast.walk(divided) if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)))
    return {ast.unparse(part) for part in parts}


def _told(names: Names, loop: ast.For) -> Iterator[ast.expr]:
    """`len(loader.dataset)` in what a loop prints: how far it has come."""
    for call in names.calls_in(loop):
        if _is_length(call) and isinstance(call.args[0], ast.Attribute):
            statement = names.statement(call)
            teller = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(teller, ast.Call) and teller is not call:
                if getattr(teller.func, "attr", getattr(teller.func, "id", "")) in TELLS:
                    yield call


def _is_length(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "len"
        and len(node.args) == 1
    )


def _is_whole(facts: Facts, names: Names, number: ast.expr, loaders: Collection[Loader]) -> bool:
    """Whether a number counts all samples of a loader: `len(loader.dataset)`, `len(data)`, or a variable."""
    if _is_length(number):
        return _is_data(facts, names, number.args[0], loaders)  # type: ignore[attr-defined]
    if not isinstance(number, (ast.Name, ast.Attribute, ast.Subscript)):
        return False
    values = facts.flow.values(names, number)
    lengths = [value for value in values if _is_length(value.node)]
    if not lengths or len(lengths) < len(values):
        return False
    return any(_is_data(facts, value.names, value.node.args[0], loaders) for value in lengths)  # type: ignore[attr-defined]


def _is_data(facts: Facts, names: Names, node: ast.expr, loaders: Collection[Loader]) -> bool:
    """Whether an expression is the data set of one of some loaders."""
    if isinstance(node, ast.Attribute) and node.attr == "dataset":
        held = facts.flow.values(names, node.value)
        return any(loader.value in held for loader in loaders)
    held = facts.flow.values(names, node)
    return any(
        value.name != "?" and value in facts.flow.values(loader.names, loader.dataset)
        for loader in loaders
        for value in held
    )


def _holds(names: Names, loader: ast.expr, at: ast.AST) -> bool:
    """Whether the variables of an expression are still the same at another place of its function."""
    around = {*names.ancestors(at)}
    for part in ast.walk(loader):
        for binding in names.bindings(part.id, part) if isinstance(part, ast.Name) else ():
            if binding.kind == "each":
                loop = next((p for p in names.ancestors(binding.node) if isinstance(p, ast.For)), None)
                if loop not in around:
                    return False
    return True
