"""Ways out of training loops, and passes that `continue` cuts short: the tests that decide over them."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.loops import training_loops
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.index.names import FUNCTIONS, LOOPS, Names


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
            if not isinstance(way_out, ast.Return):
                return []
            found = [(test, False) for test, _ in found]
    return []


def skips_gradients(facts: Facts, names: Names, skip: ast.Continue) -> bool:
    """Whether a backward pass is below a `continue` in its loop."""
    loop = next(parent for parent in names.ancestors(skip) if isinstance(parent, LOOPS))
    return any(
        where is names and loop in names.ancestors(call) and call.lineno > skip.lineno
        for path in training_loops(facts).paths
        for where, call in ((path.names, path.backward), *path.calls)
    )
