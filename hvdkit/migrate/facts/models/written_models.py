"""How a model whose gradients are averaged after backward() is written at a place."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.wraps import Wrap
from hvdkit.migrate.values.spelling import spelled
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names


class NotShown(Exception):
    """Why it cannot be shown that averaging after backward() does what is meant."""


def name_at(facts: Facts, names: Names, at: ast.expr | ast.stmt, wrap: Wrap, wraps: Sequence[Wrap]) -> str:
    """The model as it is written at a place, which holds none but these. Raises NotShown."""
    place = names.place(at)
    where = "where backward() is called" if isinstance(at, ast.Call) else "where training starts"
    name = spelled(facts.flow, names, at, _values(wrap))
    if name is None:
        raise NotShown(f"it has no name {where} ({place})")
    every = frozenset().union(*(_values(each) for each in wraps))
    held = facts.flow.named(names, name, at) if name.isidentifier() else frozenset()
    if facts.flow.unwrap(held) - facts.flow.unwrap(every):
        raise NotShown(f"{name} may be a different model {where} ({place})")
    others = {spelled(facts.flow, names, at, _values(each)) for each in wraps} - {None}
    both = [
        each
        for each in wraps
        if each.node is not wrap.node and name.isidentifier() and held & _values(each) - _values(wrap)
    ]
    if both and len(others) > 1:
        raise NotShown(f"{name} may be either of two models {where} ({place})")
    return name


def _values(wrap: Wrap) -> frozenset[Value]:
    return wrap.models | {wrap.value}
