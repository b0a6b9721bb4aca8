"""Which tests and flags say that a program runs as one process, or as one of several."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.launch.rank_kinds import CONSTANT, UNKNOWN, rank_kinds
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values.vocabulary import EVERY_HOROVOD
from hvdkit.source.index.names import Names

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
# A size compared so, with this number, says that there is one process, or that there are several.
_ONE: dict[type, int] = {ast.Eq: 1, ast.LtE: 1, ast.Lt: 2}
_SEVERAL: dict[type, int] = {ast.NotEq: 1, ast.Gt: 1, ast.GtE: 2}
ASKS_FOR_CARDS = frozenset(("torch.cuda.is_available", "torch.accelerator.is_available"))
_STARTED = frozenset(("torch.distributed.is_initialized", *(f"{m}.is_initialized" for m in EVERY_HOROVOD)))


def lone_where(facts: Facts, names: Names, test: ast.AST, holds: bool, depth: int = 0) -> bool:
    """Whether a test comes out as `holds` only in a program of one process."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return lone_where(facts, names, test.operand, not holds, depth)
    if isinstance(test, ast.BoolOp):
        alone = [lone_where(facts, names, value, holds, depth) for value in test.values]
        return any(alone) if isinstance(test.op, ast.And) == holds else all(alone)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and "size" in counted_by(facts, names, test.left):
        bound = (_ONE if holds else _SEVERAL).get(type(test.ops[0]))
        return bound is not None and constant_number(test.comparators[0]) == bound
    return not holds and says_distributed(facts, names, test, depth)


def _asks_for_cards(names: Names, test: ast.AST) -> bool:
    """Whether a test asks whether this machine has a GPU."""
    return isinstance(test, ast.Call) and bool(ASKS_FOR_CARDS & set(names.qualified(test.func)))


@once
def says_distributed(facts: Facts, names: Names, test: ast.AST, depth: int = 0) -> bool:
    """Whether a flag says that there are several processes: by what it was computed from."""
    return depth <= 3 and _says_distributed(facts, names, test, depth)


def _says_distributed(facts: Facts, names: Names, test: ast.AST, depth: int) -> bool:
    if test in rank_kinds(facts).launch_tests:
        return True
    if isinstance(test, ast.Call):
        if _STARTED & set(facts.flow.qualified(names, test.func)):
            return True
        return any(
            says_distributed(facts, where, result, depth + 1)
            for where, function in facts.flow.functions(names, test)
            for result in where.returns.get(function, ())
        ) or any(_tests_started(facts, w, f) for w, f in facts.flow.functions(names, test))
    if isinstance(test, ast.Compare):
        return bool({"size", "rank", "local_rank"} & rank_kinds(facts).of(names, test.left))
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) and any(_asks_for_cards(names, value) for value in test.values):
            return False  # a job on CPUs has several processes, too
        return any(says_distributed(facts, names, value, depth) for value in test.values)
    if isinstance(test, ast.Name):
        bindings = [(names, b) for b in names.bindings(test.id, test)]
    elif isinstance(test, ast.Attribute):
        bindings = facts.flow.stored(names, test)
    else:
        return False
    return any(
        b.kind == "assign" and b.value is not None and says_distributed(facts, where, b.value, depth + 1)
        for where, b in bindings
    ) or any(_set_in_jobs(facts, where, b.value, b.node, depth + 1) for where, b in bindings)


@once
def _tests_started(facts: Facts, names: Names, function: ast.AST) -> bool:
    """`def is_dist_avail_and_initialized()`: it asks whether the job was started."""
    return any(
        isinstance(node, ast.Call) and bool(_STARTED & set(names.qualified(node.func)))
        for node in ast.walk(function)
    )


def _set_in_jobs(facts: Facts, names: Names, value: ast.expr | None, node: ast.AST, depth: int) -> bool:
    """`args.distributed = True` where the job is started, or under a test for several processes."""
    if not isinstance(value, ast.Constant) or value.value is not True:
        return False
    around, function = [node, *names.ancestors(node)], names.function(node)
    starts = ("torch.distributed.init_process_group", *(f"{module}.init" for module in EVERY_HOROVOD))
    started: set[ast.AST] = set()
    for site in facts.calls(*starts):
        if function is not None and site.names is names and names.function(site.node) is function:
            started |= {site.node, *names.ancestors(site.node)}
    tests = [
        (parent, lone_where(facts, names, parent.test, child not in parent.body, depth))
        for child, parent in zip(around, around[1:])
        if isinstance(parent, ast.If) and child is not parent.test
    ]
    if any(several for _, several in tests):
        return True
    return bool(started) and all(parent in started for parent, _ in tests)


def leaves(names: Names, statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return bool({"sys.exit", "os._exit"} & set(names.qualified(statement.value.func)))
    return isinstance(statement, _LEAVES)


def counted_by(facts: Facts, names: Names, node: ast.AST) -> frozenset[str]:
    """What a number counts: a rank, a size."""
    kinds = rank_kinds(facts).of(names, node) - {CONSTANT}
    if UNKNOWN in kinds and isinstance(node, ast.expr):
        return frozenset(launch_of(facts).meaning(names, node))  # it goes into init_process_group, say
    return kinds


def constant_number(node: ast.AST) -> int | None:
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        value = node.operand.value
        return -value if isinstance(value, int) else None
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None
