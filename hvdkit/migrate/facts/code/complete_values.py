"""Whether all that an expression may be is known: it is followed to its end."""

from __future__ import annotations

import ast
from typing import Callable

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.values.arguments import default, is_constant, passed
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FUNCTIONS, Binding, Names


def may_only_be(facts: Facts, names: Names, node: ast.expr, accepts: Callable[[Value], bool]) -> bool:
    """Whether an expression is followed to its end, and all that it may be is accepted."""
    values = facts.flow.values(names, node) if is_complete(facts, names, node) else frozenset()
    given = [value for value in values if not left_at_none(facts, value)]
    return bool(given) and all(map(accepts, given))


def is_complete(facts: Facts, names: Names, node: ast.expr, seen: set[ast.AST] | None = None) -> bool:
    """Whether all that is assigned to a variable or an attribute is known; what fills a list is not."""
    seen = set() if seen is None else seen
    if node in seen:
        return True
    seen.add(node)
    if isinstance(node, ast.Name):
        bound = [(names, binding) for binding in names.bindings(node.id, node)]
    elif isinstance(node, ast.Attribute):
        bound = facts.flow.stored(names, node)
    else:
        return bool(facts.flow.values(names, node))
    return all(_binding_followed(facts, where, binding, seen) for where, binding in bound)


def _binding_followed(facts: Facts, names: Names, binding: Binding, seen: set[ast.AST]) -> bool:
    if binding.kind == "assign" and binding.value is not None and not binding.path:
        return is_complete(facts, names, binding.value, seen)
    if binding.kind != "param" or not isinstance(binding.node, ast.arg):
        return bool(facts.flow.bound(names, binding))
    function = names.parents[names.parents[binding.node]]
    if not isinstance(function, FUNCTIONS):
        return False
    sites = facts.flow.call_sites(names, function)
    given = ((where, passed(names, function, where, call, binding.node.arg)) for where, call in sites)
    return all(value is None or is_complete(facts, where, value, seen) for where, value in given)


def left_at_none(facts: Facts, value: Value) -> bool:
    """Whether a value is a parameter that is None unless it is given, and nobody is seen to give it."""
    if value.kind != "param":
        return False
    function = value.names.parents[value.names.parents[value.node]]
    if not isinstance(function, FUNCTIONS) or not isinstance(value.node, ast.arg):
        return False
    unless = default(function, value.node)
    none = unless is not None and is_constant(unless, None)
    return none and not facts.flow.call_sites(value.names, function)
