"""Optimizers of one run that hold the same parameters: Horovod's would each reduce every gradient of them.

Only what is written alike in one function is compared, `D.parameters()` of two optimizers, since one line may
make several models. Parameters that are picked out of a model are no whole of it: another optimizer may hold
the rest.
"""

from __future__ import annotations

import ast
import sys
from itertools import permutations

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.optimizers.wrap_places import WrapPlace, wrap_places
from hvdkit.migrate.values.arguments import head_of
from hvdkit.source.index.names import COMPREHENSIONS, FUNCTIONS, Names


def shares_parameters(facts: Facts, place: WrapPlace) -> tuple[str, WrapPlace] | None:
    """A model, as it is written, that another optimizer trains as well, and that optimizer's place."""
    for other in wrap_places(facts):
        if other.names is place.names and _both_made(place, other):
            for root in _whole(place):
                for also in _whole(other):
                    if _same_model(place.names, root, also):
                        return place.names.source.segment(root), other
    return None


def _both_made(place: WrapPlace, other: WrapPlace) -> bool:
    """Whether two optimizers live at once: not one in place of the other, nor in branches apart."""
    names = place.names
    if names.function(place.call) is not names.function(other.call) or place.statement is other.statement:
        return False
    if place.target is None or other.target is None or place.target == other.target:
        return False
    return not _apart(names, place.statement, other.statement)


def _apart(names: Names, one: ast.stmt, other: ast.stmt) -> bool:
    """Whether a run that comes to one statement does not come to the other."""
    above = {id(node) for node in (other, *names.ancestors(other))}
    below: ast.AST = one
    for parent in names.ancestors(one):
        if id(parent) in above:
            pairs = permutations(_branches(parent), 2)
            return any(below in here and any(id(node) in above for node in there) for here, there in pairs)
        below = parent
    return False


def _branches(statement: ast.AST) -> list[list[ast.AST]]:
    """What a statement runs one of, and no more; none for a statement that runs all that it holds."""
    if isinstance(statement, ast.If):
        return [[*statement.body], [*statement.orelse]]
    if isinstance(statement, ast.Try):
        return [[*statement.body, *statement.orelse], [*statement.handlers]]
    if sys.version_info >= (3, 10) and isinstance(statement, ast.Match):
        return [[case] for case in statement.cases]
    return []


def _whole(place: WrapPlace) -> list[ast.expr]:
    """The x of each `x.parameters()` that a place's optimizers were given all of, where they are made.

    In a function that makes optimizers x is another model in each call of it.
    """
    here = place.names.function(place.call)
    return [
        root
        for optimizer in place.optimizers
        for names, root in optimizer.roots
        if names is place.names and names.function(root) is here and _is_whole(names, root)
    ]


def _is_whole(names: Names, root: ast.expr) -> bool:
    asked = names.parents[root]
    if not isinstance(asked, ast.Attribute) or asked.attr != "parameters":
        return False
    for parent in names.ancestors(asked):
        if isinstance(
            parent, (*COMPREHENSIONS, *FUNCTIONS, ast.Lambda, ast.IfExp, ast.BoolOp, ast.Subscript)
        ):
            return False
        if isinstance(parent, ast.stmt):
            return isinstance(parent, (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr))
        if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") in ("filter", "map"):
            return False
    return False


def _same_model(names: Names, root: ast.expr, also: ast.expr) -> bool:
    """Whether an expression is a model, or a part of it, that another one names, and means the same there."""
    texts = [ast.unparse(root), ast.unparse(also)]
    short, long = sorted(texts, key=len)
    if not (short == long or long.startswith(f"{short}.")) or names.function(root) is not names.function(
        also
    ):
        return False
    head = head_of(root)
    if not isinstance(head, ast.Name):
        return False
    heads = head_of(also)
    bindings = names.bindings(head.id, head)
    if bindings != names.bindings(head.id, heads) or any(b.kind == "each" for b in bindings):
        return False
    first, last = sorted((root.lineno, also.lineno))
    return not any(first < getattr(binding.node, "lineno", first) < last for binding in bindings)
