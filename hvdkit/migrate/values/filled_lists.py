"""What a loop's variable stands for, where the list that it goes over is filled in the same function.

`phases = []`, then `phases += [Phase(module=net, opt=opt)]`, then `for phase, z in zip(phases, zs):`.
"""

from __future__ import annotations

import ast

from hvdkit.source.index.names import Binding, Names

_LOOKS = ("zip", "enumerate", "len", "reversed", "iter")


def elements(names: Names, use: ast.Name) -> list[ast.expr]:
    """Every expression that a loop's variable may be; none where not all of the list is seen."""
    found: list[ast.expr] = []
    for binding in names.bindings(use.id, use):
        inside = _filled(names, _gone_over(binding)) if binding.kind == "each" else []
        if not inside:
            return []
        found += inside
    return found


def _gone_over(binding: Binding) -> ast.expr | None:
    """The list whose elements a loop's variable gets one by one."""
    over = binding.value
    if not isinstance(over, ast.Call):
        return None if binding.path else over
    called = getattr(over.func, "id", "")
    if called == "zip" and len(binding.path) == 1 and 0 <= binding.path[0] < len(over.args):
        return over.args[binding.path[0]]
    return over.args[0] if called == "enumerate" and binding.path == (1,) else None


def _filled(names: Names, node: ast.expr | None) -> list[ast.expr]:
    """What is put into a list, where nothing else is done with it than to look."""
    if isinstance(node, ast.List):
        return node.elts
    if not isinstance(node, ast.Name):
        return []
    owner = names.scope(node).owner(node.id)
    if owner is not names.scope(node) or owner is names.module:
        return []
    found: list[ast.expr] = []
    for use in names.uses.get(node.id, ()):
        if names.scope(use).owner(node.id) is owner:
            put = _put(names, use)
            if put is None or any(isinstance(one, ast.Starred) for one in put):
                return []
            found += put
    return found


def _put(names: Names, use: ast.Name) -> list[ast.expr] | None:
    """What one use of a list puts into it; None where that is not seen."""
    parent = names.parents[use]
    if isinstance(parent, (ast.Assign, ast.AugAssign)) and isinstance(use.ctx, ast.Store):
        added = not isinstance(parent, ast.AugAssign) or isinstance(parent.op, ast.Add)
        return parent.value.elts if added and isinstance(parent.value, ast.List) else None
    if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is use:
        return []
    if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") in _LOOKS:
        return []
    call = names.parents[parent]
    if isinstance(parent, ast.Attribute) and parent.attr == "append" and isinstance(call, ast.Call):
        return call.args
    return None
