"""Whether a tensor certainly holds integers."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.index.names import Names

INTEGERS = frozenset(
    f"torch.{name}" for name in ("int", "int32", "int64", "long", "short", "int16", "int8", "uint8")
)
MAKERS = frozenset(("torch.tensor", "torch.as_tensor"))
SAME_TYPE = frozenset(("cpu", "cuda", "detach", "clone", "contiguous", "view", "reshape", "item"))
CAST = frozenset(("long", "int", "short"))
MAX_STEPS = 6


def is_integer(facts: Facts, names: Names, node: ast.AST, steps: int = 0) -> bool:
    """Whether an expression is an integer tensor, or a Python integer, whichever way it came to be."""
    if steps > MAX_STEPS:
        return False
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int) and not isinstance(node.value, bool)
    if isinstance(node, ast.List):
        return bool(node.elts) and all(is_integer(facts, names, part, steps + 1) for part in node.elts)
    if isinstance(node, ast.Name):
        return _variable(facts, names, node, steps)
    if isinstance(node, ast.Call):
        return _call(facts, names, node, steps)
    return False


def _variable(facts: Facts, names: Names, node: ast.Name, steps: int) -> bool:
    """A variable whose plain assignments are integers; what `+=` adds cannot make a tensor a float one."""
    found = []
    for binding in names.bindings(node.id, node):
        if binding.kind == "other" and isinstance(names.parents.get(binding.node), ast.AugAssign):
            added = binding.value
            # A Python number becomes a float when one is added; then it is no tensor from the start.
            if added is not None and _starts_as_number(names, node) and not _sums_a_comparison(added):
                return False
            continue
        if binding.kind != "assign" or binding.path or binding.value is None:
            return False
        if any(part is node for part in ast.walk(binding.value)):
            continue  # x = hvd.allreduce(x)
        found.append(is_integer(facts, names, binding.value, steps + 1))
    return bool(found) and all(found)


def _starts_as_number(names: Names, node: ast.Name) -> bool:
    return any(isinstance(b.value, ast.Constant) for b in names.bindings(node.id, node) if b.kind == "assign")


def _call(facts: Facts, names: Names, call: ast.Call, steps: int) -> bool:
    function = call.func
    if isinstance(function, ast.Name) and function.id == "len" and not names.bindings("len", call):
        return True
    qualified = facts.flow.qualified(names, function)
    dtype = keyword(call, "dtype")
    if dtype is not None:
        return bool(qualified) and bool(set(facts.flow.qualified(names, dtype)) & INTEGERS)
    if qualified & MAKERS and call.args:
        return is_integer(facts, names, call.args[0], steps + 1)
    if "torch.LongTensor" in qualified or "torch.IntTensor" in qualified:
        return True
    if not isinstance(function, ast.Attribute) or qualified:
        return False
    if function.attr in CAST and not call.args:
        return True
    if function.attr == "to":
        typed = [a for a in call.args if facts.flow.qualified(names, a)]
        if any(set(facts.flow.qualified(names, a)) & INTEGERS for a in typed):
            return True
        return not typed and is_integer(facts, names, function.value, steps + 1)
    if function.attr in SAME_TYPE:
        return is_integer(facts, names, function.value, steps + 1)
    return _sums_a_comparison(call)


def _sums_a_comparison(node: ast.expr) -> bool:
    """`(a == b).sum()` and `a.eq(b).sum()`, with .item() or without, count."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "sum":
            inner = node.func.value
            if isinstance(inner, ast.Compare):
                return True
            return isinstance(inner, ast.Call) and getattr(inner.func, "attr", "") in ("eq", "ne", "gt", "lt")
        if node.func.attr not in SAME_TYPE:
            return False
        node = node.func.value
    return False
