"""The tests by which a rank leaves a training loop, or skips a pass in it, while others may not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.loops import LoopNode, Path, training_loops
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.launch_reach import tests_before
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.launch.which_processes import Where, caught, where_runs
from hvdkit.source.index.names import FUNCTIONS, LOOPS, Names

EXITS = {"sys.exit", "os._exit", "builtins.exit", "builtins.quit"}


def tests_out_of(names: Names, way_out: ast.AST, loops: set[ast.AST]) -> list[tuple[ast.expr, bool]]:
    """The tests between a training loop and a way out of it, and whether each pass reaches them once."""
    found: list[tuple[ast.expr, bool]] = []
    for parent in names.ancestors(way_out):
        if isinstance(parent, FUNCTIONS):
            return []
        if isinstance(parent, ast.If):
            found.append((parent.test, True))
        elif parent in loops:
            return found
        elif isinstance(parent, LOOPS):
            if isinstance(way_out, (ast.Break, ast.Continue)):
                return []
            found = [(test, False) for test, _ in found]
    return []


def ends_well(names: Names) -> Iterator[ast.Call]:
    """The calls that end a process without an error, which leaves the other ranks waiting: `sys.exit()`."""
    for name in ("exit", "quit", "_exit"):
        for call in names.calls.get(name, ()):
            known = names.qualified(call.func) or {f"builtins.{getattr(call.func, 'id', '')}"}
            code = call.args[0] if call.args else None
            if EXITS & set(known) and (code is None or (isinstance(code, ast.Constant) and not code.value)):
                yield call


def skips_gradients(facts: Facts, names: Names, skip: ast.Continue) -> bool:
    """Whether a backward pass is below a `continue` in its loop."""
    loop = next(parent for parent in names.ancestors(skip) if isinstance(parent, LOOPS))
    return any(
        where is names and loop in names.ancestors(call) and call.lineno > skip.lineno
        for path in training_loops(facts).paths
        for where, call in ((path.names, path.backward), *path.calls)
    )


@dataclass(frozen=True)
class WayApart:
    """A test that decides over a pass. leaves: it ends the loop, and else skips a pass.

    together: all ranks come to it, once in each turn of the loop. by_rank: a test around it asks for a rank.
    """

    names: Names
    test: ast.expr
    leaves: bool
    together: bool
    by_rank: bool = False


def ways_apart(facts: Facts, names: Names, loops: set[LoopNode]) -> Iterator[WayApart]:
    """The tests in a file by which these loops are left, or passes in them skipped; some come twice."""
    for loop in names.of_kind(ast.While):
        if loop in loops:
            yield WayApart(names, loop.test, True, where_runs(facts, names, loop) is Where.ALL)
    for way_out in (*names.of_kind(ast.Break, ast.Return), *ends_well(names)):
        for test, once_a_pass in tests_out_of(names, way_out, set(loops)):
            by_rank = any(_asks_for_rank(facts, names, around) for around, _ in tests_before(names, test))
            together = once_a_pass and not by_rank and where_runs(facts, names, way_out) is Where.ALL
            yield WayApart(names, test, True, together, by_rank)
    for skip in names.of_kind(ast.Continue):
        for test, _ in tests_out_of(names, skip, set(loops)) if skips_gradients(facts, names, skip) else ():
            yield WayApart(names, test, False, False)


def _asks_for_rank(facts: Facts, names: Names, test: ast.expr) -> bool:
    """Whether a test, or what a function of the project that it calls gives, is made from a rank."""
    waiting: list[tuple[Names, ast.expr]] = [(names, test)]
    seen: set[ast.expr] = set()
    while waiting:
        where, asked = waiting.pop()
        if asked in seen:
            continue
        seen.add(asked)
        if any(rank_kinds(facts).inside(where, asked, kind) for kind in ("rank", "local_rank")):
            return True
        for call in where.calls_in(asked):
            for at, function in facts.flow.functions(where, call):
                waiting += ((at, result) for result in at.returns.get(function, ()))
    return False


def ways_around(facts: Facts) -> Iterator[WayApart]:
    """The tests in training loops that decide over a backward pass and the step after it alike."""
    for path in training_loops(facts).paths:
        for names, call in ((path.names, path.backward), *path.calls):
            around = [call, *names.ancestors(call)]
            for child, parent in zip(around, around[1:]):
                if isinstance(parent, FUNCTIONS):
                    break
                if isinstance(parent, ast.If) and child is not parent.test:
                    branch, other = parent.body, parent.orelse
                    if child in other:
                        branch, other = other, branch
                    if other and _ends_the_job(path, names, other[-1]):
                        continue
                    below = [part for statement in branch for part in names.calls_in(statement)]
                    if call is not path.backward or any(getattr(c.func, "attr", "") == "step" for c in below):
                        yield WayApart(names, parent.test, False, False)


def _ends_the_job(path: Path, names: Names, last: ast.stmt) -> bool:
    """Whether a rank that comes to a statement fails, and the launcher ends the others, too."""
    return isinstance(last, ast.Raise) and not any(caught(*at) for at in ((names, last), *path.calls))
