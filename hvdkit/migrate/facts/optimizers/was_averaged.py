"""Whether an optimizer's gradients were averaged by DDP: only then does Horovod's do the same."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.wraps import find_wraps
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.wrap_places import WrapPlace
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names


def is_attribute_of(facts: Facts, names: Names, node: ast.expr, wholes: frozenset[Value]) -> bool:
    """`model.head`, or `model.layers[0]`, of one of the models."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
        if facts.flow.unwrap(facts.flow.values(names, node)) & wholes:
            return True
    return False


def were_built_from(facts: Facts, wholes: frozenset[Value], parts: frozenset[Value]) -> bool:
    """Whether models were built from others: nn.Sequential(a, b), or a class that keeps them on self."""
    seen: set[Value] = set()
    waiting = [*wholes]
    while waiting:
        inside = _built_from(facts, waiting.pop()) - seen
        if inside & parts:
            return True
        seen |= inside
        waiting += inside
    return False


def _built_from(facts: Facts, whole: Value) -> set[Value]:
    if isinstance(whole.node, ast.Call):
        return {value for argument in whole.node.args for value in _values(facts, whole.names, argument)}
    if whole.kind != "object":
        return set()
    names = whole.names
    found: set[Value] = set()
    for attribute, stores in names.stores.items():
        for target, binding in stores:
            if attribute.isidentifier() and _is_self(names, target, whole.node):
                found |= _values(facts, names, binding.value)
    return found


def _values(facts: Facts, names: Names, node: ast.AST | None) -> set[Value]:
    """Models among the values of an argument; lists and dicts are opened."""
    found: set[Value] = set()
    for value in facts.flow.unwrap(facts.flow.values(names, node)):
        elements = getattr(value.node, "elts", None) or getattr(value.node, "values", None)
        if value.kind == "literal" and isinstance(elements, list):
            for element in elements:
                found |= facts.flow.unwrap(facts.flow.values(value.names, element))
        elif value.kind in ("made", "object"):
            found.add(value)
    return found


def _is_self(names: Names, target: ast.expr, owner: ast.AST) -> bool:
    """Whether `target` is self in a method of a class."""
    method = names.function(target)
    arguments = method.args.args if method is not None else []
    first = arguments[0].arg if arguments else ""
    return (
        isinstance(target, ast.Name)
        and target.id == first
        and method is not None
        and names.parents.get(method) is owner
    )


def was_averaged(facts: Facts, place: WrapPlace) -> bool:
    """Whether it was done for the optimizers of a place; what is not known for sure is taken to be so."""
    wrapped = _wrapped(facts)
    if kinds_of(facts, place.names) & {"single"} or wrapped is None:
        return True
    for optimizer in place.optimizers:
        if not [model for model in optimizer.models if model.kind != "param"]:
            return True
        if optimizer.models & wrapped or were_built_from(facts, wrapped, optimizer.models):
            return True
        if any(is_attribute_of(facts, *root, wrapped) for root in optimizer.roots):
            return True
    return False


def never_averaged(facts: Facts, place: WrapPlace) -> str:
    """A model, as written, whose gradients nobody averaged, beside one for which it was done; "" if none."""
    wrapped = _wrapped(facts)
    if kinds_of(facts, place.names) & {"single"} or wrapped is None:
        return ""
    for optimizer in place.optimizers:
        for names, root in optimizer.roots:
            models = facts.flow.unwrap(facts.flow.values(names, root))
            known = bool(models) and all(model.kind in ("made", "object") for model in models)
            if known and not _in_wrapped(facts, names, root, models, wrapped):
                return names.source.segment(root)
    return ""


@once
def _wrapped(facts: Facts) -> frozenset[Value] | None:
    """The models whose gradients are averaged; None where nothing is known to average."""
    wraps = find_wraps(facts)
    return frozenset().union(*(wrap.models for wrap in wraps)) if wraps else None


def _in_wrapped(
    facts: Facts, names: Names, root: ast.expr, models: frozenset[Value], wrapped: frozenset[Value]
) -> bool:
    """Whether models are wrapped, are parts of what is, or are made of it."""
    related = (
        models & wrapped or were_built_from(facts, wrapped, models) or were_built_from(facts, models, wrapped)
    )
    return bool(related) or is_attribute_of(facts, names, root, wrapped)
