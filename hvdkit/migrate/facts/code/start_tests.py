"""Tests whether a process group was started already: `if not dist.is_initialized():`."""

from __future__ import annotations

import ast


def asks_for_start(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "is_initialized"


def where_none_started(statement: ast.If, inside: ast.AST) -> list[ast.stmt]:
    """The branch of `if not dist.is_initialized():` (or of its opposite) that holds a node, if it is one."""
    below = any(part is inside for one in statement.body for part in ast.walk(one))
    every = _operands(statement.test, ast.And if below else ast.Or)
    if below:
        every = [one.operand for one in every if isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.Not)]
    return (statement.body if below else statement.orelse) if _any_asks(every) else []


def leaves_when_started(statement: ast.stmt) -> bool:
    """`if dist.is_initialized(): return`: what comes below starts, or something has."""
    if (
        not isinstance(statement, ast.If)
        or statement.orelse
        or not isinstance(statement.body[-1], ast.Return)
    ):
        return False
    return _any_asks(_operands(statement.test, ast.And))


def _operands(test: ast.expr, joined: type[ast.boolop]) -> list[ast.expr]:
    """What a test joins by `and` or by `or`: itself, where it joins nothing so."""
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, joined) else [test]


def _any_asks(every: list[ast.expr]) -> bool:
    return any(isinstance(one, ast.Call) and asks_for_start(one.func) for one in every)
