"""HVD805: a collective that only some ranks come to."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator
from typing import Any, Callable

from hvdkit.check.horovod import COLLECTIVES, MAX_CALLERS, called, short
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.which_processes import Where, asks_for_process, where_runs
from hvdkit.migrate.facts.programs.reached_code import run_alone
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import FUNCTIONS, Names
from hvdkit.source.index.statements import block_of

COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda rank, ranks: operator.contains(ranks, rank),
    ast.NotIn: lambda rank, ranks: not operator.contains(ranks, rank),
}
EVERY = frozenset(f"{module}.{name}" for module in words.EVERY_HOROVOD for name in COLLECTIVES)


def check(facts: Facts) -> Iterator[Finding]:
    for site in called(facts, *COLLECTIVES):
        if any(keyword.arg in ("process_set", None) for keyword in site.node.keywords):
            continue
        if run_alone(facts, site.names, site.node):
            continue  # no program that reaches it is a job of several ranks
        where = where_runs(facts, site.names, site.node)
        if where is Where.ALL or _answered(facts, site.names, site.node):
            continue
        who = "rank 0" if where is Where.RANK_0 else "one rank of each node"
        message = f"only {who} reaches {short(site)}(), and blocks forever"
        advice = f"call {short(site)}() on every rank, and put only what uses its result under the test"
        yield manual("HVD805", site.names, site.node, message, advice)


def _answered(facts: Facts, names: Names, node: ast.AST, depth: int = 0) -> bool:
    """Whether the ranks that a test turns away come to a collective, too, in its other branch or below."""
    child = node
    for parent in names.ancestors(node):
        if isinstance(parent, ast.If) and child is not parent.test:
            inside = child in parent.body
            if asks_for_process(facts, names, parent):
                other = [*parent.orelse, *_under_opposite(names, parent)] if inside else parent.body
                if any(_collects(facts, names, statement) for statement in other):
                    return True
                if inside and not parent.orelse and isinstance(parent.body[-1], (ast.Return, ast.Continue)):
                    block = getattr(names.parents[parent], "body", [])
                    below = block[block.index(parent) + 1 :] if parent in block else []
                    if any(_collects(facts, names, statement) for statement in below):
                        return True
        if isinstance(parent, FUNCTIONS):
            sites = facts.flow.call_sites(names, parent) if depth < MAX_CALLERS else []
            return any(_answered(facts, where, call, depth + 1) for where, call in sites)
        child = parent
    return False


def _under_opposite(names: Names, choice: ast.If) -> list[ast.stmt]:
    """What stands under the opposite test in the same block: `if rank != 0: barrier()`, and `if rank == 0:`."""
    mates = [s for s in block_of(names, choice) if isinstance(s, ast.If) and _opposite(choice.test, s.test)]
    return [statement for mate in mates for statement in mate.body]


def _opposite(one: ast.expr, other: ast.expr) -> bool:
    """Whether each rank passes one of two tests: `rank == 0`, and `rank > 0` or `rank not in (-1, 0)`."""
    first, second = _passed(one), _passed(other)
    return bool(first) and first[:1] == second[:1] and all(a != b for a, b in zip(first[1:], second[1:]))


def _passed(test: ast.expr) -> list[object]:
    """What a test compares with a constant, and whether each of a few ranks passes; empty for other tests."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in COMPARED:
        return []
    compare = COMPARED[type(test.ops[0])]
    try:
        constant = ast.literal_eval(test.comparators[0])
        return [ast.dump(test.left), *(compare(rank, constant) for rank in range(4))]
    except (ValueError, TypeError):
        return []


def _collects(facts: Facts, names: Names, node: ast.AST, depth: int = 0) -> bool:
    """Whether running a node comes to a collective."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            if EVERY & facts.flow.qualified(names, part.func):
                return True
            if depth < MAX_CALLERS and any(
                _collects(facts, where, function, depth + 1)
                for where, function in facts.flow.functions(names, part)
            ):
                return True
    return False


RULE = Rule(
    id="HVD805",
    title="a collective under a rank test",
    what=(
        "The job stops: rank 0 waits in the collective for ranks that never come. After a minute Horovod "
        "warns of a stalled tensor; it runs until it is killed."
    ),
    why="every rank of a process set has to call each collective, in the same order.",
    safety="Nothing is edited: which part of the block all ranks should run is for the author to decide.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd

            hvd.init()
            if hvd.rank() == 0:
                loss = hvd.allreduce(local_loss)
                print(loss)
            """,
            reason="the loss is reduced by one rank alone",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd

            hvd.init()
            if hvd.local_rank() != 0:
                hvd.barrier()
            data = download()
            if hvd.local_rank() == 0:
                hvd.barrier()
            """,
            reason="each rank reaches one of the two barriers: the first of each node downloads before the others",
        ),
    ),
)
