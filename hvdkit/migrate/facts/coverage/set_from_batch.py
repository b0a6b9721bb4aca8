"""Parameters that a module sets from what it is given, as the layers of flows do with their first batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.code.call_graph import call_graph
from hvdkit.migrate.facts.coverage.buffers import FORWARD
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import Names

SETTING = ("copy_", "set_")


def set_from_batch(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Names, ast.stmt, str]]:
    """The first statement of each class of a program that sets a parameter from a batch, and its name."""
    for names in sorted(program.files, key=lambda names: names.source.path):
        for owner in names.of_kind(ast.ClassDef) if "Parameter" in names.source.text else ():
            parameters = _parameters(facts, names, owner)
            statements = (part for part in names.walk(owner) if isinstance(part, ast.stmt) and parameters)
            for statement in statements:
                attribute = _set(statement)
                if attribute is None or attribute[0] not in parameters:
                    continue
                if not _of_argument(names, attribute[1]) or not _from_forward(facts, names, statement, set()):
                    continue
                if runs_in(facts, program, names, statement):
                    yield names, statement, attribute[0]
                    break


def _parameters(facts: Facts, names: Names, owner: ast.ClassDef) -> set[str]:
    """The attributes that a class gives an nn.Parameter."""
    return {
        target.attr
        for part in names.walk(owner)
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Call)
        if words.PARAMETER & facts.flow.qualified(names, part.value.func)
        for target in part.targets
        if isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == "self"
    }


def _set(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """The attribute, and what it is set to, of `self.scale.data.copy_(x)` and `self.scale.data = x`."""
    target: ast.expr | None = None
    value: ast.expr | None = None
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
        target, value = statement.targets[0], statement.value
        if target.attr != "data":
            return None
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if isinstance(call.func, ast.Attribute) and call.func.attr in SETTING and call.args:
            target, value = call.func.value, call.args[0]
    if isinstance(target, ast.Attribute) and target.attr == "data":
        target = target.value
    if value is None or not isinstance(target, ast.Attribute) or getattr(target.value, "id", "") != "self":
        return None
    return target.attr, value


def _of_argument(names: Names, value: ast.expr) -> bool:
    """Whether a value is computed from an argument of the method that it stands in."""
    seen: set[ast.AST] = set()
    waiting: list[ast.AST] = [value]
    while waiting:
        for part in (part for part in ast.walk(waiting.pop()) if isinstance(part, ast.Name)):
            for binding in names.bindings(part.id, part) if part.id != "self" else ():
                if binding.node in seen:
                    continue
                seen.add(binding.node)
                if binding.kind == "param":
                    return True
                if isinstance(binding.value, ast.AST):
                    waiting.append(binding.value)
    return False


def _from_forward(facts: Facts, names: Names, node: ast.AST, seen: set[ast.AST]) -> bool:
    """Whether a forward pass comes to a node; what only builds a module, or loads weights, is no such."""
    function = names.function(node)
    if function is None or function in seen:
        return False
    seen.add(function)
    if getattr(function, "name", "") in FORWARD:
        return True
    calls = (
        (where, place)
        for where, place in call_graph(facts).ways(names, function)
        if isinstance(place, ast.Call)
    )
    return any(_from_forward(facts, where, call, seen) for where, call in calls)
