"""Samplers whose class is chosen at run time, or which functools.partial gives some arguments beforehand."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.calls import PARTIAL
from hvdkit.source.index.names import Names


@dataclass(frozen=True)
class Chosen:
    """A call of a class that a variable, an attribute or an entry of a table holds.

    first: the position of num_replicas. choice: the reading of the class that asks the process group, in
    `DistributedSampler if distributed else RandomSampler` above; None where each of the classes asks.
    problem: why neither the call nor the choice can be told the rank.
    """

    names: Names
    call: ast.Call
    first: int
    choice: ast.expr | None = None
    problem: str = ""


def chosen(facts: Facts) -> Iterator[Chosen]:
    """Every call of a variable that may make a sampler which asks the process group."""
    for names in facts.files:
        computed = (call for call in names.calls.get("", ()) if isinstance(call.func, ast.Subscript))
        for call in dict.fromkeys((*names.variable_calls, *computed, *_of_class_attributes(names))):
            if not names.qualified(call.func):
                yield from _chosen(facts, names, call)


def _of_class_attributes(names: Names) -> Iterator[ast.Call]:
    """`self.sampler_class(...)`, where the body of a class assigns sampler_class."""
    for owner in names.of_kind(ast.ClassDef):
        for attribute, bindings in names.scopes[owner].names.items():
            if any(binding.kind == "assign" for binding in bindings):
                yield from (c for c in names.calls.get(attribute, ()) if isinstance(c.func, ast.Attribute))


def _chosen(facts: Facts, names: Names, call: ast.Call) -> Iterator[Chosen]:
    values = [value for value in facts.flow.values(names, call.func) if not value.is_none]
    positions = {words.ASKING_SAMPLERS[value.name] for value in values if _asks(value.kind, value.name)}
    if not positions:
        return
    first = min(positions)
    if len(positions) == 1 and all(_asks(value.kind, value.name) for value in values):
        yield Chosen(names, call, first)
        return
    choice = _choice(facts, names, call)
    problem = "" if choice is not None else "it may also be of a class that does not get the rank"
    yield Chosen(names, call, first, choice, problem)


def _asks(kind: str, name: str) -> bool:
    return kind == "name" and name in words.ASKING_SAMPLERS


def _choice(facts: Facts, names: Names, call: ast.Call) -> ast.expr | None:
    """DistributedSampler in what a local variable is assigned once, of which nothing but calls is made."""
    function = names.function(call)
    if not isinstance(call.func, ast.Name) or function is None:
        return None
    bindings = names.bindings(call.func.id, call.func)
    value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
    if not isinstance(value, ast.IfExp) or bindings[0].path or names.function(value) is not function:
        return None
    uses = [use for use in names.uses.get(call.func.id, ()) if isinstance(use.ctx, ast.Load)]
    only_called = all(getattr(names.parents[use], "func", None) is use for use in uses)
    asking = [
        part
        for part in (value.body, value.orelse)
        if not words.ASKING_SAMPLERS.keys().isdisjoint(facts.flow.qualified(names, part))
    ]
    return asking[0] if only_called and len(asking) == 1 else None


def bound_early(facts: Facts) -> Iterator[tuple[Names, ast.Call, int]]:
    """Every `partial(DistributedSampler, ...)`, with the position of num_replicas in it."""
    for site in facts.calls(PARTIAL):
        for name in facts.flow.qualified(site.names, site.node.args[0]) if site.node.args else ():
            if name in words.ASKING_SAMPLERS:
                yield site.names, site.node, words.ASKING_SAMPLERS[name] + 1


def after_start(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether the ranks are known where a call runs: in a function, or below the start of the job."""
    if names.function(node) is not None:
        return True
    if any(isinstance(parent, ast.ClassDef) for parent in names.ancestors(node)):
        return False
    starts = (*facts.calls(words.INIT), *facts.calls(*words.HVD_INIT))
    return any(
        site.names is names
        and names.function(site.node) is None
        and site.node.lineno < getattr(node, "lineno", 0)
        for site in starts
    )
