"""Gradients that a program sends through a collective itself, without DDP."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hvdkit.migrate.facts.arguments import passed
from hvdkit.migrate.names import Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts, Site

COLLECTIVES = tuple(
    f"torch.distributed.{name}"
    for name in (
        "all_reduce",
        "all_reduce_coalesced",
        "all_reduce_multigpu",
        "reduce",
        "reduce_scatter",
        "reduce_scatter_tensor",
        "all_gather",
        "all_gather_into_tensor",
    )
)
# What keeps a gradient a gradient: a norm or a sum of it is a statistic.
KEEPS = {"detach", "view", "view_as", "reshape", "flatten", "contiguous", "float", "half", "to", "clone"}
KEEPS |= {"div", "div_", "mul_", "cat", "stack", "list", "tuple"}
KEEPS |= {"_flatten_dense_tensors", "flatten_dense_tensors"}
MAX_STEPS = 8


def hand_reductions(facts: Facts) -> Iterator[Site]:
    """Collectives of torch.distributed that are given gradients."""
    for site in facts.calls(*COLLECTIVES):
        if any(is_gradient(facts, site.names, argument) for argument in site.node.args):
            yield site


def is_gradient(facts: Facts, names: Names, node: ast.AST | None, steps: int = 0) -> bool:
    """Whether an expression may be a gradient, or gradients in a list or laid end to end."""
    if node is None or steps > MAX_STEPS:
        return False
    if isinstance(node, ast.Attribute):
        return (node.attr == "grad" and not names.qualified(node)) or (
            node.attr == "data" and is_gradient(facts, names, node.value, steps)
        )
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called not in KEEPS:
            return False
        receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return any(is_gradient(facts, names, part, steps) for part in (*node.args, *receiver))
    if isinstance(node, (ast.List, ast.Tuple)):
        return any(is_gradient(facts, names, part, steps) for part in node.elts)
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return is_gradient(facts, names, node.elt, steps)
    if isinstance(node, (ast.Subscript, ast.Starred, ast.BinOp)):
        value = node.left if isinstance(node, ast.BinOp) else node.value
        return is_gradient(facts, names, value, steps)
    return isinstance(node, ast.Name) and _named(facts, names, node, steps + 1)


def _named(facts: Facts, names: Names, node: ast.Name, steps: int) -> bool:
    for binding in names.bindings(node.id, node):
        if binding.kind in ("assign", "each") and is_gradient(facts, names, binding.value, steps):
            return True
        if binding.kind == "param":
            function = names.function(node)
            if function is None:
                continue
            for where, call in facts.flow.call_sites(names, function):
                given = passed(names, function, where, call, node.id)
                if is_gradient(facts, where, given, steps):
                    return True
    owner = names.scope(node).owner(node.id)
    for call in names.calls.get("append", ()):
        target = call.func.value if isinstance(call.func, ast.Attribute) else None
        same = isinstance(target, ast.Name) and target.id == node.id
        if same and names.scope(call).owner(node.id) is owner:
            if any(is_gradient(facts, names, argument, steps) for argument in call.args):
                return True
    return False
