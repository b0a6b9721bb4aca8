"""How the optimizers of a step are written at another place of the program."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.step_groups import Group, Step
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.steps import steps_of
from hvdkit.migrate.values.spelling import spelled
from hvdkit.source.index.names import Names


def optimizer_names(
    facts: Facts, names: Names, at: ast.expr | ast.stmt, groups: Iterable[Group]
) -> list[str]:
    """The optimizers of some groups as they are written at a place; those without a name there are missing.

    Where the place's own function steps them, they are written as there.
    """
    found: list[str] = []
    for group in groups:
        here = [s for s in group.steps if s.names is names and _means_the_same(s, at)]
        written = [plain_target(step) for step in here] or [
            spelled(facts.flow, names, at, group.optimizers) or _wrapped(facts, names, at, group)
        ]
        found += [name for name in written if name is not None]
    return list(dict.fromkeys(found))


def trainers_of(facts: Facts, names: Names, model: ast.expr) -> list[str]:
    """The optimizers that train a model, as they are written at a place where it is."""
    models = facts.flow.unwrap(facts.flow.values(names, model))
    groups = [group for group in steps_of(facts).groups if _trains(facts, group.optimizers, models)]
    return optimizer_names(facts, names, model, groups or list(steps_of(facts).groups))


def _means_the_same(step: Step, at: ast.expr | ast.stmt) -> bool:
    """Whether a step's target can be written at a place: its own function, inside the loop that binds it."""
    names = step.names
    if names.function(step.call) is not names.function(at):
        return False
    root = next((part for part in ast.walk(step.target) if isinstance(part, ast.Name)), None)
    loops = [b for b in names.bindings(root.id, root) if b.kind == "each"] if root is not None else []
    around = set(names.ancestors(at))
    return all(names.statement(binding.node) in around for binding in loops)


def _wrapped(facts: Facts, names: Names, at: ast.expr | ast.stmt, group: Group) -> str | None:
    """As `spelled`, for a variable that only ever holds the wrapped optimizer."""
    wrappers = {
        value
        for step in group.steps
        for value in facts.flow.values(step.names, step.target)
        if facts.flow.unwrap([value]) & group.optimizers
    }
    return spelled(facts.flow, names, at, wrappers)


def plain_target(step: Step) -> str | None:
    """The target of a step as text, where saying it twice means the same object."""
    node: ast.expr = step.target
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, (ast.Constant, ast.Name)):
            return None
        node = node.value
    return step.names.source.segment(step.target) if isinstance(node, ast.Name) else None


def _trains(facts: Facts, optimizers: frozenset[object], models: frozenset[object]) -> bool:
    return any(o.value in optimizers and o.models & models for o in averaging_optimizers(facts))
