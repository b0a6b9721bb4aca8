"""Tensors that an optimizer trains on their own, as SAC's log_alpha, and the backward passes that reach them.

No model holds such a tensor, so a loss is not known by its models to leave it alone. It is followed through
the variables of the function instead that are computed from it; where one of them goes anywhere else, nothing
is said.
"""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.losses import CUTS
from hvdkit.migrate.facts.models.optimizers import Optimizer
from hvdkit.source.index.names import Names, Scope

_ENDS = ("float", "print")
_COMPUTES = (ast.BinOp, ast.UnaryOp, ast.Attribute, ast.IfExp, ast.keyword)


def passes_of(facts: Facts, optimizer: Optimizer) -> frozenset[ast.Call] | None:
    """The backward passes that may reach what an optimizer of a list of tensors trains; None if not known."""
    names, given = optimizer.names, optimizer.node.args[0] if optimizer.node.args else None
    if not isinstance(given, ast.List) or not all(isinstance(part, ast.Name) for part in given.elts):
        return None
    scope = names.scope(optimizer.node)
    waiting = [part.id for part in given.elts if isinstance(part, ast.Name)]
    if not all(_is_tensor(facts, names, name, scope) for name in waiting):
        return None
    found: set[ast.Call] = set()
    for name in waiting:
        for use in names.uses.get(name, ()):
            if use in given.elts or names.scope(use).owner(name) is not scope:
                continue
            holder = _goes(facts, names, use, found) if names.scope(use) is scope else None
            if holder is None:
                return None
            waiting += [other for other in holder if other not in waiting]
    return frozenset(found)


def _is_tensor(facts: Facts, names: Names, name: str, scope: Scope) -> bool:
    """Whether a variable of the function holds what a call of torch gave, and nothing else."""
    bindings = scope.names.get(name, ())
    calls = [binding.value for binding in bindings if binding.kind == "assign" and not binding.path]
    return (
        bool(calls)
        and len(calls) == len(bindings)
        and all(
            isinstance(call, ast.Call)
            and any(made.startswith("torch.") for made in facts.flow.qualified(names, call.func))
            for call in calls
        )
    )


def _goes(facts: Facts, names: Names, use: ast.AST, found: set[ast.Call]) -> list[str] | None:
    """The variables that hold what is computed from a use; None where it goes out of sight.

    A backward pass that begins there is put into found.
    """
    node, parent = use, names.parents[use]
    while True:
        if isinstance(parent, ast.Call):
            method = node.attr if node is parent.func and isinstance(node, ast.Attribute) else ""
            if method in CUTS or (not method and getattr(parent.func, "id", "") in _ENDS):
                return []
            if method == "backward":
                found.add(parent)
                return []
            if not method and not _of_torch(facts, names, parent):
                return None
        elif isinstance(parent, ast.Assign):
            targets = [target.id for target in parent.targets if isinstance(target, ast.Name)]
            return targets if len(targets) == len(parent.targets) else None
        elif not isinstance(parent, _COMPUTES):
            return None
        node, parent = parent, names.parents[parent]


def _of_torch(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether a function of torch is called, which does not keep what it is given."""
    called = facts.flow.qualified(names, call.func)
    return bool(called) and all(name.startswith("torch.") for name in called)
