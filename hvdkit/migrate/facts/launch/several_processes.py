"""Whether a test comes out one way in every job of several processes: `if args.distributed:`, `size > 1`."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.launch.lone_processes import says_distributed
from hvdkit.migrate.facts.launch.rank_kinds import CONSTANT, rank_kinds
from hvdkit.migrate.facts.launch.which_processes import Where, processes_of_test
from hvdkit.migrate.index.names import Names
from hvdkit.migrate.values.arguments import passed

_SIZES = {ast.Gt: 1, ast.GtE: 2, ast.NotEq: 1}  # true of every size above one
_ONE = {ast.Eq: 1, ast.LtE: 1, ast.Lt: 2}
_RANKS = {ast.NotEq: -1, ast.GtE: 0, ast.Gt: -1}  # true of every rank, where -1 stands for no job
_NO_RANK = {ast.Eq: -1, ast.Lt: 0, ast.LtE: -1}
_AVAILABLE = "torch.distributed.is_available"
MAX_STEPS = 4


def holds_in_jobs(facts: Facts, names: Names, test: ast.AST, holds: bool = True, depth: int = 0) -> bool:
    """Whether a test comes out as `holds` wherever there are several processes, on each of them."""
    if depth > MAX_STEPS:
        return False
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return holds_in_jobs(facts, names, test.operand, not holds, depth)
    if isinstance(test, ast.BoolOp):
        each = [holds_in_jobs(facts, names, value, holds, depth) for value in test.values]
        return all(each) if isinstance(test.op, ast.And) == holds else any(each)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and test not in rank_kinds(facts).launch_tests:
        return _compared(facts, names, test, holds)
    return holds and _says(facts, names, test, depth)


def is_size(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether a number is the number of processes."""
    kinds = rank_kinds(facts).of(names, node) - {CONSTANT}
    if kinds == {"size"} or launch_of(facts).meaning(names, node) == {"size"}:
        return True
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("float", "int") and node.args:
        node = node.args[0]
    # A number in the source that is passed to init_process_group as the world size.
    origins = launch_of(facts).origins(names, node)
    return bool(origins) and all(launch_of(facts).meanings.get(origin.node) == "size" for origin in origins)


def _compared(facts: Facts, names: Names, test: ast.Compare, holds: bool) -> bool:
    number = _number(test.comparators[0])
    if is_size(facts, names, test.left):
        return number is not None and (_SIZES if holds else _ONE).get(type(test.ops[0])) == number
    if rank_kinds(facts).of(names, test.left) & {"rank", "local_rank"}:
        return number is not None and (_RANKS if holds else _NO_RANK).get(type(test.ops[0])) == number
    return False


def _says(facts: Facts, names: Names, test: ast.AST, depth: int) -> bool:
    """A flag, or a function that tells: each thing that it may be has to say the same."""
    if isinstance(test, ast.Call) and _AVAILABLE in names.qualified(test.func):
        return True
    if isinstance(test, ast.Name):
        bindings = [(names, b) for b in names.bindings(test.id, test)]
        if [b.kind for _, b in bindings] == ["param"]:
            return _passed(facts, names, test, depth)
    elif isinstance(test, ast.Attribute):
        bindings = facts.flow.stored(names, test)
    else:
        bindings = []
    values = [(where, b.value) for where, b in bindings if b.kind == "assign" and b.value is not None]
    if values and len(values) == len(bindings) and all(_is_true(value) for _, value in values):
        return not isinstance(test, ast.Attribute) or not launch_of(facts).options.named(test.attr)
    if processes_of_test(facts, names, test) is not Where.ALL or not says_distributed(facts, names, test):
        return False
    return all(
        isinstance(value, ast.Constant) or holds_in_jobs(facts, where, value, True, depth + 1)
        for where, value in values
    )


def _is_true(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is True


def _passed(facts: Facts, names: Names, flag: ast.Name, depth: int) -> bool:
    """A flag that a function is given: by every call."""
    function = names.function(flag)
    sites = facts.flow.call_sites(names, function) if function is not None else []
    given = [(where, passed(names, function, where, call, flag.id)) for where, call in sites if function]
    return bool(given) and all(
        value is not None and holds_in_jobs(facts, where, value, True, depth + 1) for where, value in given
    )


def _number(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, int) else None
