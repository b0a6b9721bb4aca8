"""Ways out of training loops, and passes that `continue` cuts short: the tests that decide over them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.code.loops import training_loops
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.index.names import FUNCTIONS, LOOPS, Names

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
