"""What the constructor and step() of a project's own optimizer class take, keep and test."""

from __future__ import annotations

import ast

from hvdkit.source.index.names import FunctionNode


def kept_on_self(method: FunctionNode, given: set[str]) -> ast.stmt | None:
    """A statement that keeps one of the given parameters on self, outside the parameter groups."""
    for node in ast.walk(method):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            if any(isinstance(part, ast.Name) and part.id in given for part in ast.walk(node.value)):
                return node
    return None


def required_parameters(method: FunctionNode) -> list[ast.arg]:
    """Parameters after self and params that have no default."""
    positional = method.args.args[2 : len(method.args.args) - len(method.args.defaults)]
    keywords = [arg for arg, value in zip(method.args.kwonlyargs, method.args.kw_defaults) if value is None]
    return [*positional, *keywords]


def default_may_be_zero(method: FunctionNode, name: str) -> bool:
    """Whether a parameter can have the default 0: it is an option of the groups, and no test rejects 0."""
    options = {
        value.id
        for node in ast.walk(method)
        for value in (
            [k.value for k in node.keywords]
            if isinstance(node, ast.Call)
            else node.values
            if isinstance(node, ast.Dict)
            else []
        )
        if isinstance(value, ast.Name)
    }
    return name in options and all(_lets_zero_pass(test, name) for test in _tests(method, name))


def _tests(method: FunctionNode, name: str) -> list[ast.expr]:
    tests = [node.test for node in ast.walk(method) if isinstance(node, (ast.If, ast.Assert, ast.IfExp))]
    return [t for t in tests if any(isinstance(p, ast.Name) and p.id == name for p in ast.walk(t))]


def _lets_zero_pass(test: ast.expr, name: str) -> bool:
    """`if lr < 0.0: raise` and `if not 0.0 <= lr: raise`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = test.operand
        return isinstance(inner, ast.Compare) and isinstance(inner.ops[0], ast.LtE) and _zero(inner.left)
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == name
        and isinstance(test.ops[0], ast.Lt)
        and _zero(test.comparators[0])
    )


def _zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def takes_closure(method: FunctionNode) -> bool:
    """Whether a step() takes a closure: any argument beside self."""
    return len(method.args.args) > 1 or method.args.vararg is not None
