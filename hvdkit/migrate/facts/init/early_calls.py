"""Calls of Horovod that a script reaches before anything can have started it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import starting_sites
from hvdkit.source.index.names import LOOPS, FunctionNode, Names


def early_calls(facts: Facts, program: ProgramFacts, calls: Iterable[Site]) -> list[Site]:
    """Those of some calls that run, on a way that is followed from the script's top, above every start."""
    first = [(site.names, site.node) for site in starting_sites(facts, program)]
    if any(names.function(node) is None and names is not program.entry for names, node in first):
        return []  # an import starts it
    starting = _leading_to(facts, first)

    def early(names: Names, node: ast.AST, seen: set[FunctionNode]) -> bool:
        if names not in program.files:
            return False
        function = names.function(node)
        beside = [start for where, start in starting if where is names and names.function(start) is function]
        if any(_may_precede(names, start, node) for start in beside):
            return False
        if function is None:
            return names is program.entry
        if function in seen:
            return False
        seen.add(function)
        return any(early(where, call, seen) for where, call in facts.flow.call_sites(names, function))

    return [site for site in calls if early(site.names, site.node, set())]


def _leading_to(facts: Facts, first: list[tuple[Names, ast.Call]]) -> list[tuple[Names, ast.AST]]:
    """Some calls, and the calls of the functions that they stand in, up to the top."""
    found: list[tuple[Names, ast.AST]] = list(first)
    seen: set[FunctionNode] = set()
    for names, node in found:  # grows
        function = names.function(node)
        if function is not None and function not in seen:
            seen.add(function)
            found += facts.flow.call_sites(names, function)
    return found


def _may_precede(names: Names, start: ast.AST, node: ast.AST) -> bool:
    """Whether a start of the same function may have run when a node does: before it, or in a loop with it."""
    # A call runs when its parts have run: `Trainer(args)` of `Trainer(args).train()` comes first.
    if _end(start) < _end(node):
        return True
    around = {parent for parent in names.ancestors(start) if isinstance(parent, LOOPS)}
    return any(parent in around for parent in names.ancestors(node))


def _end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)
