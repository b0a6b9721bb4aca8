"""Objects that are put around an optimizer and step it: apex LARC, Lookahead, and the project's own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.flow import Value
from hvdkit.migrate.names import Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts


@dataclass(frozen=True)
class Around:
    """One construction of such an object.

    inner: the argument that is the optimizer, one of `optimizers`. looks: whether its step() looks at the
    gradients before the inner one steps, or may.
    """

    names: Names
    node: ast.Call
    inner: ast.expr
    optimizers: frozenset[Value]
    looks: bool


def find_around(facts: Facts) -> Iterator[Around]:
    """Every object of these kinds around an optimizer that the project constructs."""
    for site in facts.calls(*words.GRADIENT_WRAPPERS, *words.WEIGHT_WRAPPERS):
        yield from _given(facts, site.names, site.node, site.name in words.GRADIENT_WRAPPERS)
    for names in facts.files:
        for calls in names.calls.values():
            for call in calls:
                if _may_be_class(call) and any(
                    _of_own_kind(facts, v) for v in facts.flow.values(names, call.func)
                ):
                    yield from _given(facts, names, call, True)


def _given(facts: Facts, names: Names, call: ast.Call, looks: bool) -> Iterator[Around]:
    """The argument of a construction that is an optimizer."""
    known = {optimizer.value for optimizer in facts.optimizers}
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        mine = facts.flow.unwrap(facts.flow.values(names, argument)) & known
        if mine:
            yield Around(names, call, argument, mine, looks)


def _may_be_class(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name[:1].isupper() and bool(call.args or call.keywords)


def _of_own_kind(facts: Facts, value: Value) -> bool:
    """Whether a class of the project has a step() that looks at gradients."""
    if value.kind != "class":
        return False
    return any(facts.steps.looks_inside(where, method) for where, method in facts.flow.methods(value, "step"))
