"""Tensors that Horovod's allreduce does not take: integers of one or two bytes, and truth values."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.index.names import Names
from hvdkit.migrate.values.arguments import keyword

KINDS = ("bool", "int8", "int16", "uint8")
_TYPES = tuple(
    f"torch.{place}{kind}Tensor" for place in ("", "cuda.") for kind in ("Bool", "Byte", "Char", "Short")
)
_KEEPS = ("clone", "contiguous", "cpu", "cuda", "fill_", "pin_memory", "zero_")
_CASTS = ("bool", "byte", "char", "short")


def is_narrow(facts: Facts, names: Names, tensor: ast.expr) -> bool | None:
    """Whether a tensor is such a one; None where some of what it may be is, and some is not known to be."""
    values = facts.flow.values(names, tensor)
    found = [_made_narrow(value.names, value.node) for value in values]
    if not any(found):
        return False
    return True if all(found) else None


def _made_narrow(names: Names, call: ast.AST) -> bool:
    """Whether a value is made by `torch.ByteTensor(n)`, `torch.zeros(n, dtype=torch.uint8)`, `x.byte()`."""
    if not isinstance(call, ast.Call):
        return False
    if any(name in _TYPES for name in names.qualified(call.func)):
        return True
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method in _CASTS and not call.args:
        return True
    if method in _KEEPS and isinstance(call.func, ast.Attribute):
        return _made_narrow(names, call.func.value)
    kinds = [keyword(call, "dtype"), *(call.args[:1] if method in ("to", "type") else ())]
    wanted = {f"torch.{kind}" for kind in KINDS}
    return any(kind is not None and bool(wanted & set(names.qualified(kind))) for kind in kinds)
