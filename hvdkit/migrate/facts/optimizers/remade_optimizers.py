"""Optimizers that are made again for a model that one was made for before: for each run, fold or phase.

Horovod's hooks stay on the parameters as long as these live, whatever becomes of the optimizer.
"""

from __future__ import annotations

import ast

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.optimizers.wrap_places import WrapPlace, wrap_places
from hvdkit.migrate.values.arguments import passed, spawned
from hvdkit.source.index.names import FUNCTIONS, LOOPS, Names

MAX_CALLERS = 3


@dataclass(frozen=True)
class Again:
    """Why a place makes an optimizer again: another place above, a loop around, or its function's callers."""

    above: WrapPlace | None = None
    loop: ast.For | ast.While | None = None
    function: ast.AST | None = None


def made_again(facts: Facts, place: WrapPlace) -> Again | None:
    """How a place comes to make an optimizer for parameters that have had one."""
    names, texts = place.names, _models(place)
    if not texts:
        return None
    above = [other for other in wrap_places(facts) if _replaced(other, place) and _same(place, other, texts)]
    if above:
        return Again(above=max(above, key=lambda other: other.statement.lineno))
    if any(_in_loop(names, place.statement, text) for text in texts) and not _only_once(
        names, place.statement
    ):
        return Again(loop=_loop(names, place.statement))
    function = names.function(place.statement)
    if function is not None and any(_run_again(facts, names, place.statement, text) for text in texts):
        return Again(function=function)
    return None


def _models(place: WrapPlace) -> set[str]:
    """The models of a place, as they are written there."""
    if place.models is not None:
        return set(place.models)
    function = place.names.function(place.call)
    roots = [root for optimizer in place.optimizers for root in optimizer.roots]
    return {
        ast.unparse(root)
        for names, root in roots
        if names is place.names and names.function(root) is function
    }


def _replaced(other: WrapPlace, place: WrapPlace) -> bool:
    """Whether a place gives its variable to another optimizer than one above in the same function."""
    names = place.names
    if other is place or other.names is not names or place.target is None or other.target != place.target:
        return False
    if names.function(other.statement) is not names.function(place.statement):
        return False
    return other.statement.lineno < place.statement.lineno and not exclusive(
        names, other.statement, place.statement
    )


def _same(place: WrapPlace, other: WrapPlace, texts: set[str]) -> bool:
    """Whether two places train one object, or a part of it and all: a head, and then the whole model."""
    return any(
        not _assigned_between(place.names, other.statement, place.statement, text)
        for text in texts
        for before in _models(other)
        if f"{text}.".startswith(f"{before}.") or f"{before}.".startswith(f"{text}.")
    )


def exclusive(names: Names, one: ast.AST, other: ast.AST) -> bool:
    """Whether two nodes stand in different branches of one test."""
    ways = [[node, *names.ancestors(node)] for node in (one, other)]
    common = next((node for node in ways[0] if node in ways[1]), None)
    if not isinstance(common, (ast.If, ast.IfExp, ast.Try)):
        return False
    inside = [way[way.index(common) - 1] for way in ways]
    fields = [next(f for f, value in ast.iter_fields(common) if _holds(value, node)) for node in inside]
    return fields[0] != fields[1]


def _holds(value: object, node: ast.AST) -> bool:
    return value is node or (isinstance(value, list) and node in value)


def _loop(names: Names, node: ast.AST) -> ast.For | ast.While | None:
    """The innermost loop around a node in its function."""
    for parent in names.ancestors(node):
        if isinstance(parent, FUNCTIONS):
            return None
        if isinstance(parent, (ast.For, ast.While)):
            return parent
    return None


def _in_loop(names: Names, node: ast.AST, text: str) -> bool:
    """Whether a loop comes to a node again with the same model, by what is written there."""
    loop = _loop(names, node)
    return loop is not None and not _made_inside(names, node, text, loop)


def _made_inside(names: Names, node: ast.AST, text: str, region: ast.AST) -> bool:
    """Whether a variable of an expression gets another value inside a region that holds the node."""
    parts = {part.id for part in ast.walk(ast.parse(text, mode="eval")) if isinstance(part, ast.Name)}
    for part in parts:
        for binding in names.bindings(part, node):
            within = region in names.ancestors(binding.node) or binding.node is region
            value = binding.value if isinstance(binding.value, ast.AST) else None
            itself = value is not None and any(getattr(inner, "id", "") == part for inner in ast.walk(value))
            if within and not itself:  # `model = model.cuda()` is the model that it was
                return True
    return any(
        isinstance(target, ast.Attribute) and f"{text}.".startswith(f"{ast.unparse(target)}.")
        for statement in ast.walk(region)
        if isinstance(statement, ast.Assign)
        for target in statement.targets
    )


def _only_once(names: Names, node: ast.AST) -> bool:
    """Whether a test asks for what is not there yet: `if optimizer is None:`."""
    around = [node, *names.ancestors(node)]
    for child, parent in zip(around, around[1:]):
        if isinstance(parent, LOOPS):
            return False
        if isinstance(parent, ast.If) and child in parent.body:
            test = ast.unparse(parent.test)
            if test.startswith("not ") or test.endswith(("is None", "== None")):
                return True
    return False


def _run_again(facts: Facts, names: Names, node: ast.AST, text: str, depth: int = 0) -> bool:
    """Whether a function is called again with the model that is written as text in it."""
    function = names.function(node)
    if function is None or isinstance(function, ast.Lambda) or depth >= MAX_CALLERS:
        return False
    if _made_inside(names, node, text, function) and not _given(names, node, text):
        return False
    sites = [
        (where, call)
        for where, call in facts.flow.call_sites(names, function)
        if not spawned(where, call)  # another process has other hooks
    ]
    written = [(where, call, _at_call(names, function, where, call, text)) for where, call in sites]
    for where, call, model in written:
        if model is not None and _in_loop(where, call, model):
            return True
        if model is not None and _run_again(facts, where, call, model, depth + 1):
            return True
    return any(
        one[0] is other[0]
        and one[2] is not None
        and one[2] == other[2]
        and one[0].function(one[1]) is other[0].function(other[1])
        and not exclusive(one[0], one[1], other[1])
        and not _assigned_between(one[0], one[1], other[1], one[2])
        for number, one in enumerate(written)
        for other in written[number + 1 :]
    )


def _given(names: Names, node: ast.AST, text: str) -> bool:
    head = text.partition(".")[0].partition("[")[0]
    return any(binding.kind == "param" for binding in names.bindings(head, node))


def _at_call(names: Names, function: ast.AST, where: Names, call: ast.Call, text: str) -> str | None:
    """The model as a call of the function writes it; a method's own by the object that it is called on."""
    head, dot, rest = text.partition(".")
    if not head.isidentifier() or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    bindings = names.bindings(head, function.body[0])
    if not any(binding.kind == "param" for binding in bindings):
        return (
            text
            if where is names and names.scope(function).owner(head) is names.scope(call).owner(head)
            else None
        )
    if head == "self":
        on = call.func.value if isinstance(call.func, ast.Attribute) else None
        return f"{ast.unparse(on)}{dot}{rest}" if on is not None else None
    value = passed(names, function, where, call, head)
    return f"{ast.unparse(value)}{dot}{rest}" if isinstance(value, (ast.Name, ast.Attribute)) else None


def _assigned_between(names: Names, one: ast.AST, other: ast.AST, text: str) -> bool:
    """Whether a model's variable gets another value between two calls."""
    first, last = sorted((one.lineno, other.lineno))  # type: ignore[attr-defined]
    head = text.partition(".")[0]
    return any(
        first < getattr(binding.node, "lineno", 0) <= last and binding.kind != "param"
        for binding in names.bindings(head, one)
    )
