"""Loops that take batches by next() from one pass over a loader, as many as they count themselves."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.loops import drawn_from, training_loops
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.which_processes import caught
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FUNCTIONS, LOOPS, Names

MAX_STEPS = 4  # through variables


def taken_by_count(facts: Facts, loader: Value) -> bool:
    """Whether a loop that trains would come to the end of a share: `for i in range(len(data)): next(it)`.

    Not where it asks a loader how many batches there are, starts anew, or deals with StopIteration.
    """
    training = {
        loop.node for path in training_loops(facts).paths if loader in path.loaders for loop in path.loops
    }
    for names in {path.names for path in training_loops(facts).paths if loader in path.loaders}:
        for call in names.calls.get("next", ()):
            loop = _around(names, call)
            drawn = drawn_from(call) if len(call.args) < 2 else None
            if loop not in training or drawn is None or caught(names, call):
                continue
            if _one_pass(facts, names, drawn, loader) and not _starts_anew(loop):
                count = loop.test if isinstance(loop, ast.While) else loop.iter
                if not _asks(facts, names, count):
                    return True
    return False


def _around(names: Names, node: ast.AST) -> ast.For | ast.AsyncFor | ast.While | None:
    """The loop around a node in its own function."""
    around = next((p for p in names.ancestors(node) if isinstance(p, (*LOOPS, *FUNCTIONS))), None)
    return around if isinstance(around, LOOPS) else None


def _one_pass(facts: Facts, names: Names, iterator: ast.expr, loader: Value) -> bool:
    """Whether an expression is `iter(loader)`, or a variable that only ever holds that."""
    if isinstance(iterator, ast.Name):
        bindings = names.bindings(iterator.id, iterator)
        values = [binding.value for binding in bindings if binding.kind == "assign" and not binding.path]
        known = [value for value in values if value is not None]
        return 0 < len(known) == len(bindings) and all(
            isinstance(value, ast.Call) and _one_pass(facts, names, value, loader) for value in known
        )
    if not isinstance(iterator, ast.Call) or getattr(iterator.func, "id", "") != "iter":
        return False
    return len(iterator.args) == 1 and loader in facts.flow.values(names, iterator.args[0])


def _starts_anew(loop: ast.AST) -> bool:
    """Whether a loop makes its iterator again inside: `if i % len(loader) == 0: it = iter(loader)`."""
    calls = (part for part in ast.walk(loop) if isinstance(part, ast.Call))
    return any(getattr(call.func, "id", "") == "iter" for call in calls)


def _asks(facts: Facts, names: Names, count: ast.AST, steps: int = 0) -> bool:
    """Whether a number is made of the len() of a loader, or a loop runs over one."""
    for part in ast.walk(count):
        if isinstance(part, (ast.Name, ast.Attribute)):
            if training_loops(facts).loaders_in(names, part):
                return True
            bindings = names.bindings(part.id, part) if isinstance(part, ast.Name) else ()
            values = [binding.value for binding in bindings if binding.value is not None]
            if steps < MAX_STEPS and any(_asks(facts, names, v, steps + 1) for v in values):
                return True
    return False
