"""Lines that wait for an optimizer's averages: `optimizer.synchronize()`, and where they can be written."""

from __future__ import annotations

import ast

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.step_groups import Group
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.gradient_waits import if_there, made_under_test
from hvdkit.migrate.facts.optimizers.written_optimizers import optimizer_names
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


def wait_after(facts: Facts, names: Names, call: ast.Call, group: Group) -> Edit:
    """Wait below a backward pass. Raises CannotEdit."""
    optimizers = optimizer_names(facts, names, call, [group])
    if not optimizers:
        raise edits.CannotEdit(f"{_which(facts, group)} has no name where backward() is called")
    if any(made_under_test(facts, names, name, call, group) for name in optimizers):
        raise edits.CannotEdit(
            "the optimizer is created and steps under a test, and backward() runs without it"
        )
    return edits.after(names.source, names.statement(call), _waiting(facts, optimizers, call, group))


def wait_before(facts: Facts, names: Names, statement: ast.stmt, group: Group) -> Edit:
    """Wait above a statement that uses gradients. Raises CannotEdit."""
    optimizers = optimizer_names(facts, names, statement, [group])
    if not optimizers:
        raise edits.CannotEdit(f"{_which(facts, group)} has no name where its gradients are used")
    return edits.before(names.source, statement, _waiting(facts, optimizers, statement, group))


def _waiting(facts: Facts, optimizers: list[str], at: ast.AST, group: Group) -> list[str]:
    """The lines that wait for optimizers; for one that may be None, under the test around its step."""
    lines: list[str] = []
    for name in optimizers:
        test = if_there(facts, name, at, group)
        lines += [f"if {test}:", f"\t{name}.synchronize()"] if test else [f"{name}.synchronize()"]
    return lines


def _which(facts: Facts, group: Group) -> str:
    """The first of a group's optimizers, by the place where it is made."""
    made = next(optimizer for optimizer in averaging_optimizers(facts) if optimizer.value in group.optimizers)
    return f"the optimizer of {made.names.place(made.node)}"
