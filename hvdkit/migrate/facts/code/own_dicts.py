"""Objects of a class of the project that is a dict with attributes: `Config(gpus=2).gpus`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.values.arguments import keyword
from hvdkit.migrate.values.flow import Flow
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Binding, Names


def is_dict(flow: Flow, value: Value) -> bool:
    """Whether a value is an object of a class of the project that adds nothing to what a dict is made of."""
    if value.kind != "object" or flow.methods(value, "__init__") or not flow.methods(value, "__getattr__"):
        return False
    return any(getattr(base, "id", "") == "dict" for _, owner in flow.classes(value) for base in owner.bases)


def unpacked_into(flow: Flow, names: Names, call: ast.Call, parameter: str) -> list[tuple[Names, Binding]]:
    """What `f(**config)` gives for a parameter: what was assigned to that attribute."""
    found: list[tuple[Names, Binding]] = []
    for item in call.keywords:
        if item.arg is None:
            values = flow.values(names, item.value)
            found += flow.stored_under(parameter, [value for value in values if is_dict(flow, value)])
    return found


def constructed_with(facts: Facts, names: Names, node: ast.Attribute) -> Iterator[tuple[Names, ast.expr]]:
    """What the constructions of such a class give for an attribute by keyword."""
    classes = {v.node: v for v in facts.flow.values(names, node.value) if is_dict(facts.flow, v)}
    for owner in classes.values():
        for where in facts.files:
            for call in where.calls.get(owner.name, ()):
                given = keyword(call, node.attr)
                if given is not None and any(v.node is owner.node for v in facts.flow.values(where, call)):
                    yield where, given
