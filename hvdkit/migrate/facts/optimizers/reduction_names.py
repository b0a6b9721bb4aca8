"""The names under which Horovod reduces gradients: which optimizers would share them, what tells them apart.

Two optimizers that live at once under the same names stop the job, or mix their gradients.
"""

from __future__ import annotations

import ast

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.optimizers.wrap_places import WrapPlace
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import COMPREHENSIONS, FUNCTIONS, LOOPS, Names


def may_share_names(place: WrapPlace, other: WrapPlace) -> bool:
    """Whether another optimizer of the program, without names of its own, would have this one's."""
    if other.models != place.models:
        return True
    return place.models is None and other is not place and not _instead_of(place, other)


def named_alike(place: WrapPlace, other: WrapPlace) -> bool:
    """Whether two optimizers that get their names from their variable are held by variables of one name."""
    unnamed = place.models is None and other.models is None and place.target is not None
    same = unnamed and other is not place and other.target == place.target
    return same and not _instead_of(place, other)


def name_prefix(place: WrapPlace, mates: list[WrapPlace]) -> str:
    """What to put before the names where another model is written alike: its function, or its optimizer."""
    alike = [other for other in mates if _written_alike(place, other)]
    if not alike:
        return ""
    if any(_function(other) is _function(place) for other in alike):
        return f"{prefix(place.target)}." if place.target is not None else ""
    elsewhere = any(other.names is not place.names for other in alike)
    return ".".join([*([place.names.source.path.stem] if elsewhere else []), *_owners(place), ""])


def made_again(facts: Facts, place: WrapPlace, several: bool) -> bool:
    """Whether one line makes several optimizers that live at once: in a list, a loop, a called function."""
    around = tuple(place.names.ancestors(place.call))
    if place.target is None:
        loop = any(isinstance(parent, LOOPS) for parent in around)
        kept = any(isinstance(parent, COMPREHENSIONS) for parent in around) or _kept_in_loop(place)
        return kept or (several and loop)
    return (_collected(place) and not numbered(place)) or _handed_to_several(facts, place)


def numbered(place: WrapPlace) -> str:
    """The list whose length tells the optimizers of a loop apart: each round appends its own to it.

    `optimizers = []` stands above the only loop, and the list does not leave the function.
    """
    names, loop = place.names, place.names.parents[place.statement]
    around = [p for p in names.ancestors(place.statement) if isinstance(p, (*LOOPS, *COMPREHENSIONS))]
    if not isinstance(loop, ast.For) or around != [loop] or place.statement not in loop.body:
        return ""
    if any(isinstance(part, (ast.Continue, *FUNCTIONS)) for part in names.walk(loop)):
        return ""
    for statement in loop.body[loop.body.index(place.statement) + 1 :]:
        filled = _filled(statement, place.target)
        if filled is not None and _only_filled(names, filled, loop):
            return filled.id
    return ""


def prefix(written: str) -> str:
    """An expression as the head of names."""
    return written.removeprefix("self.").replace('"', "'")


def _instead_of(place: WrapPlace, other: WrapPlace) -> bool:
    """Whether one function makes one of two optimizers: for the same variable, or to return it."""
    if _function(other) is not _function(place) or other.names is not place.names:
        return False
    if place.target is not None:
        return place.target == other.target
    return isinstance(place.statement, ast.Return) and other.statement is not place.statement


def _written_alike(place: WrapPlace, other: WrapPlace) -> bool:
    """Whether another optimizer trains other models that are written as this one's."""
    alike = place.models is not None and other.models == place.models and other is not place
    if not alike or _instead_of(place, other):
        return False
    if other.names is place.names and _function(other) is _function(place):
        return _assigned_between(place, other)
    return _made_here(place) or _made_here(other) or not _trained(place) & _trained(other)


def _made_here(place: WrapPlace) -> bool:
    """Whether the function around an optimizer makes a model of its own: each run of it has another."""
    return any(
        binding.kind == "assign"
        and isinstance(binding.value, ast.Call)
        and place.names.function(binding.node) is _function(place)
        for model in place.models or ()
        for binding in place.names.bindings(model.partition(".")[0], place.call)
    )


def _assigned_between(place: WrapPlace, other: WrapPlace) -> bool:
    """Whether a variable of the models gets another value between two optimizers of one function."""
    first, last = sorted((place.call.lineno, other.call.lineno))
    heads = {model.partition(".")[0] for model in place.models or ()}
    return any(
        binding.kind == "assign" and first < getattr(binding.node, "lineno", first) < last
        for head in heads
        for binding in place.names.bindings(head, place.call)
    )


def _trained(place: WrapPlace) -> frozenset[Value]:
    return frozenset().union(*(optimizer.models for optimizer in place.optimizers))


def _function(place: WrapPlace) -> ast.AST | None:
    return place.names.function(place.call)


def _owners(place: WrapPlace) -> list[str]:
    """The classes and functions around a place, outermost first."""
    around = [p for p in place.names.ancestors(place.call) if isinstance(p, (ast.ClassDef, *FUNCTIONS))]
    return [getattr(owner, "name", "lambda") for owner in reversed(around)]


def _kept_in_loop(place: WrapPlace) -> bool:
    """Whether each round of a loop keeps what it makes: `every[name] = Adam(...)`, `.append(Adam(...))`."""
    names = place.names
    loop = next((parent for parent in names.ancestors(place.call) if isinstance(parent, LOOPS)), None)
    if loop is None or names.function(loop) is not _function(place):
        return False
    if isinstance(place.statement, ast.Assign):
        return any(isinstance(target, ast.Subscript) for target in place.statement.targets)
    around = names.parents[place.call]
    return isinstance(around, ast.Call) and getattr(around.func, "attr", "") == "append"


def _collected(place: WrapPlace) -> bool:
    """Whether a loop puts its optimizers into a list or a dict that lives on after it."""
    names = place.names
    loop = next((parent for parent in names.ancestors(place.call) if isinstance(parent, LOOPS)), None)
    if loop is None or not (place.target or "").isidentifier():
        return False
    for use in names.uses.get(place.target or "", ()):
        parent = names.parents[use]
        if loop not in names.ancestors(use) or not isinstance(use.ctx, ast.Load):
            continue
        if isinstance(parent, ast.Call) and use in parent.args and isinstance(parent.func, ast.Attribute):
            if parent.func.attr == "append":
                return True
        if isinstance(parent, ast.Assign) and any(isinstance(t, ast.Subscript) for t in parent.targets):
            return True
    return False


def _filled(statement: ast.stmt, target: str | None) -> ast.Name | None:
    """The list of `list.append(target)`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or [ast.unparse(argument) for argument in call.args] != [target]:
        return None
    appends = isinstance(call.func, ast.Attribute) and call.func.attr == "append"
    return call.func.value if appends and isinstance(call.func.value, ast.Name) else None  # type: ignore[attr-defined]


def _only_filled(names: Names, filled: ast.Name, loop: ast.For) -> bool:
    """Whether a list is empty above a loop, is used once inside, and is not returned."""
    bindings = names.bindings(filled.id, filled)
    made = bindings[0].value if len(bindings) == 1 else None
    scope = names.scope(filled)
    empty = isinstance(made, ast.List) and not made.elts and names.statement(made).lineno < loop.lineno
    uses = [use for use in names.uses.get(filled.id, ()) if names.scope(use).owner(filled.id) is scope]
    inside = [use for use in uses if loop in names.ancestors(use)]
    given = any(isinstance(names.statement(use), ast.Return) for use in uses)
    return empty and not given and inside == [filled] and scope.owner(filled.id) is scope


def _handed_to_several(facts: Facts, place: WrapPlace) -> bool:
    """Whether a function returns its optimizer, and one program keeps several of them."""
    names, function = place.names, place.names.function(place.call)
    if function is None or len(_trained(place)) < 2 or not (place.target or "").isidentifier():
        return False
    if not any(
        isinstance(result, ast.Name) and result.id == place.target for result in names.returns[function]
    ):
        return False
    sites = facts.flow.call_sites(names, function)
    for program in programs_of(facts):
        kept = {
            ast.dump(target)
            for where, call in sites
            if where in program.files and isinstance(statement := where.statement(call), ast.Assign)
            for target in statement.targets
        }
        if names in program.files and len(kept) > 1:
            return True
    return False
