"""Statements that go without a trace when the code around them goes: a note, a flag nobody else reads."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.unused import unused
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.index.names import Names

_ASKING = {"hasattr", "getattr", "len", "float", "int", "bool", "type", "isinstance", "dir"}
_HARMLESS = {
    "torch.is_tensor",
    "torch.distributed.barrier",
    "torch.distributed.get_world_size",
    "torch.distributed.get_rank",
    "torch.distributed.is_initialized",
    "torch.distributed.is_available",
    "torch.cuda.synchronize",
}


def is_inert(facts: Facts, names: Names, node: ast.stmt, whole: ast.AST) -> bool:
    """Whether a statement only tells, asks, or sets what nothing outside of `whole` reads."""
    if isinstance(node, (ast.Pass, ast.Import, ast.ImportFrom)):
        return True
    if isinstance(node, ast.Expr):
        return _prints(node.value) or _asks(facts, names, node.value)
    if isinstance(node, ast.If):
        inside = [*node.body, *node.orelse]
        return _asks(facts, names, node.test) and all(is_inert(facts, names, s, whole) for s in inside)
    if isinstance(node, ast.Assign):
        targets = all(read_nowhere_else(facts, names, target, whole) for target in node.targets)
        return targets and _asks(facts, names, node.value)
    if isinstance(node, ast.AugAssign):
        return read_nowhere_else(facts, names, node.target, whole) and _asks(facts, names, node.value)
    return False


def _prints(node: ast.expr) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"):
        return False
    return not any(isinstance(part, ast.Call) for part in ast.walk(node) if part is not node)


def _asks(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether evaluating an expression changes nothing."""
    if any(isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield)) for part in ast.walk(node)):
        return False
    return all(
        (isinstance(call.func, ast.Name) and call.func.id in _ASKING)
        or bool(_HARMLESS & facts.flow.qualified(names, call.func))
        or "size" in rank_kinds(facts).of(names, call)
        for call in names.calls_in(node)
    )


def read_nowhere_else(facts: Facts, names: Names, target: ast.expr, whole: ast.AST) -> bool:
    """Whether nothing outside of `whole` reads what is assigned to."""
    inside = set(names.walk(whole))
    if isinstance(target, ast.Name):
        uses = names.uses.get(target.id, ())
        owner = names.scope(target).owner(target.id)
        return all(use in inside or names.scope(use).owner(use.id) is not owner for use in uses)
    base = target.value if isinstance(target, ast.Attribute) else None
    if not isinstance(target, ast.Attribute) or not isinstance(base, ast.Name):
        return False
    if [binding.kind for binding in names.bindings(base.id, base)] != ["param"]:
        return False  # an object that everybody can see, such as the options
    every = [(other, use) for other in facts.files for use in other.attributes.get(target.attr, ())]
    return all(use in inside or unused(facts, other, use) for other, use in every) and not any(
        o.texts.get(target.attr) for o in facts.files
    )
