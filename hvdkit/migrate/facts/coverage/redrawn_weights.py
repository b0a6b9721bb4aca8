"""Weights that are drawn anew below an optimizer: `net.apply(initialise)`, `init.normal_(net.weight)`.

Each rank draws its own, so a broadcast that makes all ranks alike has to come below them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from hvdkit.migrate import edits
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.optimizers.step_calls import step_calls
from hvdkit.source.index.names import FUNCTIONS, Names

MAX_CALLS = 3
DRAWS = "torch.nn.init."
IN_PLACE = frozenset(
    ("normal_", "uniform_", "random_", "bernoulli_", "exponential_", "log_normal_", "cauchy_")
)


def drawn_below(
    facts: Facts, names: Names, statement: ast.stmt, models: Iterable[str] | None
) -> ast.stmt | None:
    """The last statement below one, in its block or in one around it, that draws weights of models anew.

    models: as they are written there; None for any. What is below a backward pass, or in another function, is
    not asked.
    """
    written, last = None if models is None else tuple(models), None
    for at in (statement, *names.ancestors(statement)):
        if isinstance(at, (ast.Module, ast.ClassDef, *FUNCTIONS)):
            break
        if not isinstance(at, ast.stmt):
            continue
        block = edits.block(names, at)
        for below in block[block.index(at) + 1 :]:
            if step_calls(facts).runs_backward(below):
                return last
            if any(_draws(facts, names, call, written) for call in names.calls_in(below)):
                last = below
    return last


def _draws(facts: Facts, names: Names, call: ast.Call, models: tuple[str, ...] | None) -> bool:
    """Whether a call draws weights of models, itself or in a function that gets them."""
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    parts = [part for part in (receiver, *call.args, *(k.value for k in call.keywords)) if part is not None]
    if models is not None and not any(_may_be_of(names, part, models) for part in parts):
        return False
    if isinstance(call.func, ast.Attribute) and call.func.attr == "apply" and not names.qualified(call.func):
        return any(_initialises(facts, names, given) for given in call.args[:1])
    return any(name.startswith(DRAWS) for name in names.qualified(call.func)) or any(
        _has_draws(facts, where, function, 0) for where, function in facts.flow.functions(names, call)
    )


def _initialises(facts: Facts, names: Names, given: ast.expr) -> bool:
    """Whether what `net.apply()` is given, a function or what a call gives, draws weights."""
    node = given.func if isinstance(given, ast.Call) else given
    values = facts.flow.values(names, node)
    known = [(v.names, v.node) for v in values if v.kind == "function"]
    return not known or any(_has_draws(facts, where, function, 0) for where, function in known)


def _has_draws(facts: Facts, names: Names, function: ast.AST, depth: int) -> bool:
    """Whether a function, or one that it calls, draws a module's weights: also through `.data.normal_()`."""
    for call in names.calls_in(function):
        if any(name.startswith(DRAWS) for name in names.qualified(call.func)):
            return True
        if isinstance(call.func, ast.Attribute):
            data = call.func.value
            if call.func.attr in IN_PLACE and isinstance(data, ast.Attribute) and data.attr == "data":
                return True
            given = call.args[0] if call.func.attr == "apply" and call.args else None
            if given is not None and _initialises(facts, names, given):
                return True
        inner = facts.flow.functions(names, call) if depth < MAX_CALLS else ()
        if any(_has_draws(facts, *one, depth + 1) for one in inner if one[1] is not function):
            return True
    return False


def _may_be_of(names: Names, node: ast.expr, models: tuple[str, ...]) -> bool:
    """Whether an expression is a model, what holds it, a part of it, or of a loop over what holds it."""
    seen: set[ast.AST] = set()
    waiting: list[ast.AST] = [node]
    while waiting:
        for part in ast.walk(waiting.pop()):
            if not isinstance(part, (ast.Name, ast.Attribute)) or part in seen:
                continue
            seen.add(part)
            text = ast.unparse(part)
            if any(text == m or m.startswith(f"{text}.") or text.startswith(f"{m}.") for m in models):
                return True
            each = names.bindings(part.id, part) if isinstance(part, ast.Name) else ()
            loops = (names.statement(binding.node) for binding in each if binding.kind == "each")
            waiting += (loop.iter for loop in loops if isinstance(loop, ast.For))
    return False
