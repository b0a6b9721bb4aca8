"""Gradient tapes whose gradients an optimizer applies, and the loops that run them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.mentions import tensorflow_callers, tensorflow_files
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.index.names import FUNCTIONS, LOOPS, Names
from hvdkit.migrate.values.binding_order import last_binding

MAX_STEPS = 5
MAX_CALLERS = 8


@dataclass(frozen=True)
class Applied:
    """`optimizer.apply_gradients(...)`. gradients: the `tape.gradient(...)` calls that it is given.

    changed: whether something (clipping, scaling) happens to the gradients on the way.
    """

    names: Names
    node: ast.Call
    optimizer: ast.expr
    gradients: tuple[tuple[Names, ast.Call], ...]
    changed: bool


@dataclass(frozen=True)
class StepLoop:
    """The loop over batches around a training step. statement: what runs the step in the loop's body.

    applied: the steps. outer: the loops around it, innermost first. graph: inside a tf.function.
    """

    names: Names
    node: ast.For | ast.AsyncFor | ast.While
    statement: ast.stmt
    applied: Applied
    graph: bool


@once
def applied_gradients(facts: Facts) -> tuple[Applied, ...]:
    """Every application of gradients that a tape took."""
    found = []
    for names, call, receiver in facts.methods("apply_gradients"):
        if names not in tensorflow_files(facts) or not (call.args or call.keywords):
            continue
        given = call.args[0] if call.args else call.keywords[0].value
        origins = dict.fromkeys(_gradients(facts, names, given, 0))
        if origins:
            direct = all(not changed for _, _, changed in origins)
            gradients = sorted(dict.fromkeys((where, node) for where, node, _ in origins), key=_place)
            found.append(Applied(names, call, receiver, tuple(gradients), not direct))
    return tuple(found)


def _place(gradient: tuple[Names, ast.Call]) -> tuple[str, int, int]:
    names, call = gradient
    return str(names.source.path), call.lineno, call.col_offset


def _gradients(
    facts: Facts, names: Names, node: ast.AST, steps: int, changed: bool = False
) -> Iterator[tuple[Names, ast.Call, bool]]:
    """Calls of tape.gradient that an expression is computed from, and whether by more than zip."""
    if steps > MAX_STEPS:
        return
    for part in ast.walk(node):
        if not isinstance(part, (ast.Name, ast.Attribute, ast.Call)) or not _is_read(part):
            continue
        for value in facts.flow.values(names, part):
            call = value.node
            if isinstance(call, ast.Call) and is_gradient(facts, value.names, call):
                yield value.names, call, changed
            elif (
                call is not part and call is not node and isinstance(call, (ast.Call, ast.ListComp, ast.List))
            ):
                if value.kind in ("made", "literal") and _may_hold(value.name):
                    yield from _gradients(
                        facts, value.names, call, steps + 1, changed or not _only_zips(call)
                    )


def _is_read(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) or isinstance(getattr(node, "ctx", None), ast.Load)


def _may_hold(name: str) -> bool:
    return not name.startswith(("keras.", "numpy.", words.DATASETS))


def _only_zips(node: ast.AST) -> bool:
    return isinstance(node, ast.List) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("zip", "list")
    )


def is_gradient(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether a call is `tape.gradient(...)` of a GradientTape."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr != "gradient":
        return False
    return bool(facts.flow.made(names, function.value) & {words.TAPE, *words.TAPES})


def is_distributed(facts: Facts, names: Names, tape: ast.expr) -> bool:
    """Whether Horovod reduces the gradients of a tape.

    A name is what it was bound to last: a function that trains two models calls both of its tapes `tape`.
    """
    last = last_binding(names, tape) if isinstance(tape, ast.Name) else None
    values = facts.flow.values(names, tape) if last is None else facts.flow.bound(names, last)
    return any(value.kind == "made" and value.name in words.TAPES for value in values)


def step_loops(facts: Facts, applied: Sequence[Applied]) -> tuple[StepLoop, ...]:
    """The innermost loops around every step, through callers."""
    found: list[StepLoop] = []
    for step in applied:
        for loop in _outward(facts, step, step.names, step.node, (), False):
            if loop not in found:
                found.append(loop)
    return tuple(found)


def _outward(
    facts: Facts, step: Applied, names: Names, node: ast.AST, seen: tuple[ast.AST, ...], graph: bool
) -> Iterator[StepLoop]:
    child = node
    statement = names.statement(node)
    for parent in names.ancestors(node):
        if isinstance(parent, LOOPS) and child in parent.body:
            inside = graph or _in_graph(facts, names, parent)
            yield StepLoop(names, parent, child if isinstance(child, ast.stmt) else statement, step, inside)
            return
        if isinstance(parent, FUNCTIONS):
            if parent in seen or len(seen) >= MAX_CALLERS:
                return
            for where, call in tensorflow_callers(facts, names, parent):
                yield from _outward(facts, step, where, call, (*seen, parent), False)
            return
        child = parent


def _in_graph(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a node is traced: a function around it is decorated with tf.function."""
    for parent in names.ancestors(node):
        for decorator in getattr(parent, "decorator_list", ()):
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if "tensorflow.function" in facts.flow.qualified(names, called):
                return True
    return False
