"""Backward passes in methods that are only known by their names: of a loss that a configuration chooses."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.loops import backward_calls
from hvdkit.migrate.facts.code.running import walk_here
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.step_calls import step_calls
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.source.index.names import FunctionNode, Names


def leads_to_backward(facts: Facts, names: Names, statement: ast.stmt) -> bool:
    """Whether a statement makes a backward pass, itself or in what is only known by a method's name."""
    calls = [part for part in walk_here(statement) if isinstance(part, ast.Call)]
    return step_calls(facts).runs_backward(statement) or any(by_name(facts, names, call) for call in calls)


def by_name(facts: Facts, names: Names, call: ast.Call) -> list[tuple[Names, FunctionNode]]:
    """The methods with a backward pass that a call may run on an object that is not known."""
    if not isinstance(call.func, ast.Attribute) or names.qualified(call.func):
        return []
    found = _methods_with_backward(facts).get(call.func.attr, [])
    return found if found and not facts.flow.functions(names, call) else []


@once
def _methods_with_backward(facts: Facts) -> dict[str, list[tuple[Names, FunctionNode]]]:
    found: dict[str, list[tuple[Names, FunctionNode]]] = {}
    for names, call in backward_calls(facts):
        method = names.function(call)
        if isinstance(method, ast.FunctionDef) and isinstance(names.parents[method], ast.ClassDef):
            found.setdefault(method.name, []).append((names, method))
    return found


@once
def named_passes(facts: Facts) -> list[tuple[Names, ast.Call]]:
    """The calls of methods with a backward pass on objects that are not known."""
    return [
        (names, call)
        for method in _methods_with_backward(facts)
        for names, call, _ in facts.methods(method)
        if by_name(facts, names, call)
    ]


def passes_by_name(facts: Facts, program: ProgramFacts) -> bool:
    """Whether a program trains in a method that it only knows by its name."""
    return any(
        names in program.files and runs_in(facts, program, names, call) for names, call in named_passes(facts)
    )
