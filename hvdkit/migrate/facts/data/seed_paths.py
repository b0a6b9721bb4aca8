"""Whether a program seeds its random numbers on every path: `if args.seed is not None:` may leave it out."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.launch_options import Option
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.index.names import FUNCTIONS, Names

MAX_CALLERS = 4
_COMPARED = {
    ast.Is: lambda left, right: left is right,
    ast.IsNot: lambda left, right: left is not right,
    ast.Eq: lambda left, right: left == right,
    ast.NotEq: lambda left, right: left != right,
    ast.Gt: lambda left, right: left > right,
    ast.GtE: lambda left, right: left >= right,
    ast.Lt: lambda left, right: left < right,
    ast.LtE: lambda left, right: left <= right,
}


def may_be_left_out(facts: Facts, names: Names, call: ast.Call, depth: int = 0) -> bool:
    """Whether a job that is given no options passes by a call that seeds.

    That is where the defaults of the options leave its branch out, and what is taken instead seeds nothing.
    """
    child: ast.AST = call
    for parent in names.ancestors(call):
        if isinstance(parent, ast.If) and child is not parent.test:
            inside = child in parent.body
            other = parent.orelse if inside else parent.body
            if _by_default(facts, names, parent.test) is (not inside) and not _seeds(names, other):
                return True
        if isinstance(parent, FUNCTIONS):
            sites = facts.flow.call_sites(names, parent) if depth < MAX_CALLERS else []
            return bool(sites) and all(may_be_left_out(facts, *site, depth + 1) for site in sites)
        child = parent
    return False


def _seeds(names: Names, block: list[ast.stmt]) -> bool:
    called = (call.func for statement in block for call in names.calls_in(statement))
    return any("seed" in getattr(func, "attr", getattr(func, "id", "")).lower() for func in called)


def _by_default(facts: Facts, names: Names, test: ast.expr) -> bool | None:
    """What a test of one option gives where nobody gives the option; None where that is not known."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        answer = _by_default(facts, names, test.operand)
        return None if answer is None else not answer
    asked, compare, other = test, bool, None
    if isinstance(test, ast.Compare):
        given = test.comparators[0]
        minus = isinstance(given, ast.UnaryOp) and isinstance(given.op, ast.USub)
        constant = given.operand if isinstance(given, ast.UnaryOp) else given
        known = _COMPARED.get(type(test.ops[0])) if len(test.ops) == 1 else None
        if known is None or not isinstance(constant, ast.Constant):
            return None
        asked, compare = test.left, known
        other = -constant.value if minus and isinstance(constant.value, int) else constant.value
    options = [origin.option for origin in launch_of(facts).origins(names, asked)]
    if len(options) != 1 or options[0] is None or options[0].required is not None:
        return None
    found, default = _default(options[0])
    if not found or (isinstance(test, ast.Compare) and not _comparable(test, default, other)):
        return None
    return bool(compare(default, other) if isinstance(test, ast.Compare) else default)


def _comparable(test: ast.Compare, left: object, right: object) -> bool:
    """Whether Python orders two values, where they are to be ordered."""
    equal = isinstance(test.ops[0], (ast.Is, ast.IsNot, ast.Eq, ast.NotEq))
    return equal or (isinstance(left, (int, float)) and isinstance(right, (int, float)))


def _default(option: Option) -> tuple[bool, object]:
    """The value of an option that nobody gives, where it is seen."""
    default = option.default
    if default is None:
        return True, False if option.is_flag else None
    minus = isinstance(default, ast.UnaryOp) and isinstance(default.op, ast.USub)
    constant = default.operand if isinstance(default, ast.UnaryOp) else default
    if not isinstance(constant, ast.Constant):
        return False, None
    return True, -constant.value if minus and isinstance(constant.value, int) else constant.value
