"""Code that writes files or prints, and whether only one rank reaches it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hvdkit.migrate.facts.vocabulary import HOROVOD
from hvdkit.migrate.names import FUNCTIONS, Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts

RANK_CALLS = frozenset([f"{module}.rank" for module in HOROVOD] + ["torch.distributed.get_rank"])


def unguarded_writers(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    """torch.save calls that every rank would run."""
    for site in facts.calls("torch.save"):
        if not on_one_rank(facts, site.names, site.node):
            yield site.names, site.node


def on_one_rank(facts: Facts, names: Names, node: ast.AST, depth: int = 0) -> bool:
    """Whether a node runs on rank 0 only: by a test around it, an early return, or all of its callers."""
    child = node
    for parent in names.ancestors(node):
        if isinstance(parent, ast.If) and child in parent.body and tests_rank(facts, names, parent.test):
            return True
        if isinstance(parent, ast.IfExp) and child is parent.body and tests_rank(facts, names, parent.test):
            return True
        if isinstance(parent, FUNCTIONS):
            if _returns_early(facts, names, parent, child):
                return True
            sites = facts.flow.call_sites(names, parent) if depth < 6 else []
            return bool(sites) and all(on_one_rank(facts, n, call, depth + 1) for n, call in sites)
        child = parent
    return False


def _returns_early(facts: Facts, names: Names, function: ast.AST, child: ast.AST) -> bool:
    """`if rank != 0: return` above, in the function's own body."""
    for statement in getattr(function, "body", []):
        if statement is child:
            return False
        if isinstance(statement, ast.If) and isinstance(statement.body[-1], (ast.Return, ast.Raise)):
            if tests_rank(facts, names, statement.test, zero=False):
                return True
    return False


def tests_rank(facts: Facts, names: Names, test: ast.AST, zero: bool = True) -> bool:
    """Whether a test can only hold on rank 0 (or, with zero=False, holds on every other rank)."""
    if isinstance(test, ast.BoolOp):
        wanted = ast.And if zero else ast.Or
        return isinstance(test.op, wanted) and any(tests_rank(facts, names, v, zero) for v in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return (
            _is_rank(facts, names, test.operand, 0) if zero else tests_rank(facts, names, test.operand, True)
        )
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        right = test.comparators[0]
        operator = ast.Eq if zero else (ast.NotEq, ast.Gt)
        is_zero = isinstance(right, ast.Constant) and right.value == 0
        return is_zero and isinstance(test.ops[0], operator) and _is_rank(facts, names, test.left, 0)
    if isinstance(test, ast.Call) and not test.args:  # is_main_process()
        functions = facts.flow.functions(names, test)
        return bool(functions) and all(
            any(tests_rank(facts, where, result, zero) for result in where.returns.get(function, ()))
            for where, function in functions
        )
    if zero and isinstance(test, (ast.Name, ast.Attribute)):  # master_process = rank == 0
        return _held_test(facts, names, test)
    return False


def _held_test(facts: Facts, names: Names, test: ast.expr) -> bool:
    if not isinstance(test, ast.Name):
        return False
    bindings = [b for b in names.bindings(test.id, test) if b.kind == "assign" and b.value is not None]
    return bool(bindings) and all(
        not isinstance(b.value, ast.Name) and tests_rank(facts, names, b.value) for b in bindings if b.value
    )


def _is_rank(facts: Facts, names: Names, node: ast.AST, depth: int) -> bool:
    """Whether an expression is the global rank."""
    if isinstance(node, ast.Call) and set(names.qualified(node.func)) & RANK_CALLS:
        return True
    if depth > 4:
        return False
    if any(value.kind == "made" and value.name in RANK_CALLS for value in facts.flow.values(names, node)):
        return True
    if isinstance(node, ast.Call):
        return any(
            _is_rank(facts, where, result, depth + 1)
            for where, function in facts.flow.functions(names, node)
            for result in where.returns.get(function, ())
        )
    return False
