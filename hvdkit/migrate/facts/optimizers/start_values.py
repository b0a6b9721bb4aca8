"""What all ranks have to start from, where an optimizer's models have no names of their own at its place."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.optimizers.wrap_places import WrapPlace, bound_in_test
from hvdkit.migrate.values.arguments import head_of
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

MAX_CALLS = 3
_MODULES = ("torch.nn.", "torchvision.models.", "timm.")
_TENSORS = ("torch.zeros", "torch.ones", "torch.full", "torch.randn", "torch.rand", "torch.tensor")


def whole_models(facts: Facts, place: WrapPlace) -> dict[str, bool]:
    """The models whose parts an optimizer trains, by name, and whether each may be None; {} when unknown."""
    found: dict[str, bool] = {}
    for optimizer in place.optimizers:
        if not optimizer.roots or not optimizer.whole:
            return {}
        for where, root in optimizer.roots:
            head = head_of(root)
            same = where is place.names and where.function(root) is where.function(place.statement)
            if not same or not isinstance(head, ast.Name):
                return {}
            if head.id == "self" and head is not root:
                modules, none = _is_module_class(facts, where, root), False
            else:
                values = facts.flow.unwrap(facts.flow.named(where, head.id, place.statement))
                others = {value for value in values if not value.is_none}
                modules = bool(others) and all(is_module(facts, value) for value in others)
                none = len(others) < len(values)
            if not modules or bound_in_test(where, root, place.call):
                return {}
            found[head.id] = none
    return found


def with_the_rest(facts: Facts, place: WrapPlace) -> tuple[str, ...]:
    """The models that an optimizer trains; for a part, as a head, all: the rest may be drawn at random, too.

    An object that keeps its models on self is none of them.
    """
    found: list[str] = []
    for text in place.models or ():
        head, dot, _ = text.partition(".")
        asked = bool(dot) and head != "self"
        values = facts.flow.unwrap(facts.flow.named(place.names, head, place.statement)) if asked else ()
        found.append(head if values and all(is_module(facts, value) for value in values) else text)
    return tuple(dict.fromkeys(found))


def is_module(facts: Facts, value: Value) -> bool:
    if value.kind == "object":
        return any(base.startswith("torch.nn.") for base in facts.flow.bases(value))
    return value.kind == "made" and value.name.startswith(_MODULES)


def _is_module_class(facts: Facts, names: Names, node: ast.AST) -> bool:
    owner = names.class_around(node)
    return owner is not None and any(
        name.startswith("torch.nn.") for base in owner.bases for name in facts.flow.qualified(names, base)
    )


def plain_tensors(facts: Facts, place: WrapPlace) -> list[str]:
    """The tensors that an optimizer is given in a list, each by its name: `Adam([target], lr=lr)`."""
    given = place.call.args[0] if place.call.args else None
    if not isinstance(given, ast.List) or not given.elts:
        return []
    names = place.names
    found = [e.id for e in given.elts if isinstance(e, ast.Name) and _is_tensor(facts, names, e)]
    return found if len(found) == len(given.elts) else []


def _is_tensor(facts: Facts, names: Names, node: ast.Name) -> bool:
    values = [binding.value for binding in names.bindings(node.id, node)]
    return bool(values) and all(
        isinstance(value, ast.Call)
        and (
            bool(facts.flow.qualified(names, value.func) & set(_TENSORS))
            or (isinstance(value.func, ast.Attribute) and value.func.attr == "requires_grad_")
        )
        for value in values
    )
