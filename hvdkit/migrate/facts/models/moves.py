"""Where a module is moved to a device or type, which replaces what hooks of its parameters hang on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.optimizers import Optimizer
from hvdkit.migrate.values.binding_order import held_at
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

# Methods of torch.nn.Module that move it: https://pytorch.org/docs/stable/generated/torch.nn.Module.html
MOVES = ("cuda", "to", "double", "half", "float", "bfloat16", "xpu", "ipu", "type", "to_empty")


def _made_here(facts: Facts, names: Names, model: ast.expr, optimizer: Optimizer) -> bool:
    """Whether a model is another one of its class: `Net().cuda()`, `net = Net()` in another function."""
    if isinstance(model, ast.Call):
        return True
    if not isinstance(model, ast.Name) or names.function(model) is optimizer.names.function(optimizer.node):
        return False
    bound = [b for b in names.bindings(model.id, model) if names.function(b.node) is names.function(model)]
    makes = [b.value for b in bound if b.kind == "assign" and not b.path and isinstance(b.value, ast.Call)]
    return bool(makes) and any(
        not facts.flow.functions(names, made) or _constructs(facts, names, made) for made in makes
    )


def _constructs(facts: Facts, names: Names, call: ast.Call) -> bool:
    return any(value.kind == "class" for value in facts.flow.values(names, call.func))


def _held(facts: Facts, names: Names, node: ast.expr) -> frozenset[Value]:
    """What an expression is; of a variable what it holds there: a notebook makes one model after another."""
    held = held_at(names, node) if isinstance(node, ast.Name) else ()
    if not held:
        return facts.flow.values(names, node)
    return frozenset().union(*(facts.flow.bound(names, binding) for binding in held))


def moves_of(facts: Facts, optimizer: Optimizer) -> Iterator[tuple[Names, ast.Call]]:
    """The calls that move a module whose parameters an optimizer trains: `model.cuda()`."""
    trained = {
        value
        for where, root in optimizer.roots
        for value in facts.flow.unwrap(_held(facts, where, root))
        if not value.unknown
    }
    for name in MOVES:
        for names, call, receiver in facts.methods(name) if trained else ():
            if _made_here(facts, names, receiver, optimizer):
                continue
            if facts.flow.unwrap(_held(facts, names, receiver)) & trained:
                yield names, call
