"""One call that makes the loaders of all phases: `{phase: DataLoader(data[phase]) for phase in phases}`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hvdkit.migrate.facts.loops import Path
from hvdkit.migrate.names import FUNCTIONS, Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts, Loader


@dataclass(frozen=True)
class Phase:
    """The phase that trains, of those that one call makes loaders for.

    variable: what holds the phase where the loader is made. value: the phase. name: the same, as a literal.
    """

    variable: str
    value: str
    name: str


def phase_trained(facts: Facts, loader: Loader) -> Phase | None:
    """The one phase whose loader is trained on, where each pass says by a constant which it is."""
    variable = _variable(loader)
    paths = [path for path in facts.loops.paths if loader.value in path.loaders]
    names = {_phase(facts, loader, path) for path in paths}
    name = names.pop() if len(names) == 1 else None
    if not variable or name is None:
        return None
    written = (node for node in loader.names.of_kind(ast.Constant) if node.value == name)
    return Phase(variable, name, next(map(loader.names.source.segment, written), repr(name)))


def picks(facts: Facts, loader: Loader, path: Path) -> Iterator[tuple[Names, ast.Subscript]]:
    """Where a way from a backward pass takes the loader out of those of all phases: `loaders[phase]`."""
    batches = path.loops[path.batch]
    given = [argument for _, call in path.calls for argument in call.args]
    files = [batches.names, *(names for names, call in path.calls for _ in call.args)]
    drawn = getattr(batches.node, "iter", None)
    for names, expression in zip(files, [drawn, *given]):
        for part in names.walk(expression) if expression is not None else ():
            held = [part]
            if isinstance(part, ast.Name):
                held = [b.value for b in names.bindings(part.id, part) if b.kind == "assign" and b.value]
            for each in held:
                if isinstance(each, ast.Subscript) and loader.value in facts.flow.values(names, each):
                    yield names, each


def _variable(loader: Loader) -> str:
    """What a comprehension, or a loop that fills a dictionary, calls the phase of a loader."""
    names, node = loader.names, loader.node
    around = names.parents[node]
    if isinstance(around, ast.DictComp) and around.value is node and len(around.generators) == 1:
        target, key = around.generators[0].target, around.key
        plain = not around.generators[0].ifs and _same(target, key)
        return target.id if plain and isinstance(target, ast.Name) else ""
    if isinstance(around, ast.Assign) and len(around.targets) == 1:
        place, loop = around.targets[0], names.parents[around]
        if isinstance(place, ast.Subscript) and isinstance(loop, ast.For) and _same(loop.target, place.slice):
            return loop.target.id if isinstance(loop.target, ast.Name) else ""
    return ""


def _same(one: ast.expr, other: ast.expr) -> bool:
    return isinstance(one, ast.Name) and isinstance(other, ast.Name) and one.id == other.id


def _phase(facts: Facts, loader: Loader, path: Path) -> str | None:
    """The phase of a backward pass: in `loaders["train"]`, or by a test of the phase around it."""
    found: set[str | None] = set()
    for names, pick in picks(facts, loader, path):
        if isinstance(pick.slice, ast.Constant):
            found.add(pick.slice.value if isinstance(pick.slice.value, str) else None)
        else:
            found.add(_tested(names, pick.slice, path))
    return found.pop() if len(found) == 1 else None


def _tested(names: Names, phase: ast.expr, path: Path) -> str | None:
    """What a variable is where a backward pass of its function runs: `if phase == "train":`."""
    if not isinstance(phase, ast.Name):
        return None
    places = [(path.names, path.backward), *path.calls]
    child: ast.AST | None = next(
        (node for where, node in places if where is names and names.function(node) is names.function(phase)),
        None,
    )
    for parent in names.ancestors(child) if child is not None else ():
        if isinstance(parent, ast.If) and child in parent.body:
            name = compared(names, parent.test, phase.id)
            if name is not None:
                return name
        if isinstance(parent, FUNCTIONS):
            return None
        child = parent
    return None


def compared(names: Names, test: ast.expr, variable: str) -> str | None:
    """What a test, or a variable that is one, compares a variable with: `train = phase == "train"`."""
    if isinstance(test, ast.Name):
        bound = [binding.value for binding in names.bindings(test.id, test)]
        test = bound[0] if len(bound) == 1 and bound[0] is not None else test
    if not isinstance(test, ast.Compare) or [type(op) for op in test.ops] != [ast.Eq]:
        return None
    sides = (test.left, test.comparators[0])
    constants = [
        side.value for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, str)
    ]
    return (
        constants[0]
        if constants and any(isinstance(s, ast.Name) and s.id == variable for s in sides)
        else None
    )
