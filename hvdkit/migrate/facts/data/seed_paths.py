"""Whether a program seeds its random numbers on every path: `if args.seed is not None:` may leave it out."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from hvdkit.migrate.facts.code.callers import on_every_way
from hvdkit.migrate.facts.code.launch_options import Option
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.source.index.names import FUNCTIONS, Names

_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
}


def may_be_left_out(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether a job that is given no options passes by a call that seeds.

    That is where the defaults of the options leave its branch out, and what is taken instead seeds nothing.
    """

    def at(where: Names, place: ast.AST) -> bool | None:
        child = place
        for parent in where.ancestors(place):
            if isinstance(parent, ast.If) and child is not parent.test:
                inside = child in parent.body
                other = parent.orelse if inside else parent.body
                if _by_default(facts, where, parent.test) is (not inside) and not _seeds(where, other):
                    return True
            if isinstance(parent, FUNCTIONS):
                return None
            child = parent
        return False

    return on_every_way(facts, names, call, at)


def _seeds(names: Names, block: list[ast.stmt]) -> bool:
    called = (call.func for statement in block for call in names.calls_in(statement))
    return any("seed" in getattr(func, "attr", getattr(func, "id", "")).lower() for func in called)


def _by_default(facts: Facts, names: Names, test: ast.expr) -> bool | None:
    """What a test of one option gives where nobody gives the option; None where that is not known."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        answer = _by_default(facts, names, test.operand)
        return None if answer is None else not answer
    asked = test.left if isinstance(test, ast.Compare) else test
    options = [origin.option for origin in launch_of(facts).origins(names, asked)]
    option = options[0] if len(options) == 1 else None
    if option is None or option.required is not None:
        return None
    found, default = _default(option)
    if not found or not isinstance(test, ast.Compare):
        return bool(default) if found else None
    compare = _COMPARED.get(type(test.ops[0])) if len(test.ops) == 1 else None
    known, other = _constant(test.comparators[0])
    if compare is None or not known or not _comparable(test, default, other):
        return None
    return compare(default, other)


def _comparable(test: ast.Compare, left: object, right: object) -> bool:
    """Whether Python orders two values, where they are to be ordered."""
    equal = isinstance(test.ops[0], (ast.Is, ast.IsNot, ast.Eq, ast.NotEq))
    return equal or (isinstance(left, (int, float)) and isinstance(right, (int, float)))


def _default(option: Option) -> tuple[bool, object]:
    """The value of an option that nobody gives, where it is seen."""
    default = option.default
    if default is None:
        return True, False if option.is_flag else None
    return _constant(default)


def _constant(node: ast.expr) -> tuple[bool, object]:
    """The value of a constant, also of a negative number."""
    minus = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    constant = node.operand if isinstance(node, ast.UnaryOp) and minus else node
    if not isinstance(constant, ast.Constant):
        return False, None
    return True, -constant.value if minus and isinstance(constant.value, int) else constant.value
