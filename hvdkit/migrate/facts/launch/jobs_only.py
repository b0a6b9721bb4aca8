"""Code that a single process never reaches: it is under a test that only several processes pass."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.launch_reach import tests_before
from hvdkit.migrate.facts.launch.lone_processes import leaves, lone_where
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.source.index.names import Names
from hvdkit.source.index.statements import statements_above

MAX_CALLERS = 6


def in_jobs_only(facts: Facts, names: Names, node: ast.AST, depth: int = 0) -> bool:
    """Whether a single process never reaches a node: `if num_gpus > 1:` is around it, or around its calls.

    `if not is_initialized(): return` above it, and `is_initialized() and` before it, say the same.
    """
    child = node
    for parent in names.ancestors(node):
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            inside = child in parent.body if isinstance(parent.body, list) else child is parent.body
            if lone_where(facts, names, parent.test, not inside):
                return True
        if isinstance(parent, ast.BoolOp) and child in parent.values:
            stops = isinstance(parent.op, ast.Or)
            before = parent.values[: parent.values.index(child)]
            if any(lone_where(facts, names, value, stops) for value in before):
                return True
        if any(_left_alone(facts, names, statement) for statement in statements_above(names, child)):
            return True
        child = parent
    function = names.function(node) if depth < MAX_CALLERS else None
    sites = facts.flow.call_sites(names, function) if function is not None else []
    return bool(sites) and all(in_jobs_only(facts, *site, depth + 1) for site in sites)


def tested(facts: Facts, program: ProgramFacts, names: Names, node: ast.AST, depth: int = 0) -> bool:
    """Whether a test stands on every way to a node in a program, whatever it asks."""
    if any(not _asks_for_main(test) for test, _ in tests_before(names, node)):
        return True
    function = names.function(node) if depth < MAX_CALLERS else None
    sites = facts.flow.call_sites(names, function) if function is not None else []
    mine = [site for site in sites if runs_in(facts, program, *site)]
    return bool(mine) and all(tested(facts, program, *site, depth + 1) for site in mine)


def _asks_for_main(test: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(test))


def _left_alone(facts: Facts, names: Names, statement: ast.stmt) -> bool:
    """Whether a single process leaves at a statement."""
    if not isinstance(statement, ast.If) or not leaves(names, statement.body[-1]):
        return False
    return lone_where(facts, names, statement.test, True)
