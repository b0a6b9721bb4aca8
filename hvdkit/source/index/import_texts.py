"""The module name that a call of import_module gives as a text, as far as it is written out."""

from __future__ import annotations

import ast

from hvdkit.source.index.names import Names

HOLE = "\0"  # stands in a text wherever a value goes in


def module_text(names: Names, call: ast.Call) -> str:
    """The text that a call of import_module is given, with HOLE for what is only known as it runs."""
    given = call.args[0] if call.args else None
    if isinstance(given, ast.Name):
        bound = [b.value for b in names.bindings(given.id, given) if b.kind == "assign"]
        given = bound[0] if len(bound) == 1 and isinstance(bound[0], ast.expr) else None
    return _text(given) if given is not None else HOLE


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return _text(node.left).replace("%s", HOLE)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return _text(node.func.value).replace("{}", HOLE)
    return HOLE
