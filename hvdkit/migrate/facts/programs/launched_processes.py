"""The processes that a distributed program starts one by one, and which functions make a process group.

mp.spawn, which starts them all at once, is launch.py's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import spawned
from hvdkit.source.index.names import FunctionNode, Names


def processes(facts: Facts) -> Iterator[tuple[Names, ast.Call, ast.expr]]:
    """Each `Process(target=worker)` of a distributed program whose worker makes a process group."""
    for names in facts.files:
        if "ddp" in kinds_of(facts, names):
            for call in names.calls.get("Process", ()):
                worker = spawned(names, call)
                if worker is not None and leads_to_init(facts, names, worker):
                    yield names, call, worker


def repeats(names: Names, call: ast.Call) -> Iterator[ast.expr]:
    """The n of `for i in range(n):` around a call."""
    for parent in names.ancestors(call):
        if isinstance(parent, ast.For) and isinstance(parent.iter, ast.Call) and len(parent.iter.args) == 1:
            if getattr(parent.iter.func, "id", "") == "range":
                yield parent.iter.args[0]


def leads_to_init(facts: Facts, names: Names, worker: ast.expr) -> bool:
    """Whether a function that other processes run, or what it calls, makes a process group."""
    sites = {site.node for site in facts.calls(words.INIT)}
    return any(
        part in sites for function in functions_below(facts, names, worker) for part in ast.walk(function)
    )


def called_openly(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether calls that are followed lead from a script to a node, without a registry or a configuration."""
    waiting, seen = [(names, node)], set[ast.AST]()
    while waiting:
        where, part = waiting.pop()
        function = where.function(part)
        if function is None:
            return True
        if function not in seen:
            seen.add(function)
            waiting += facts.flow.call_sites(where, function)
    return False


def functions_below(facts: Facts, names: Names, worker: ast.expr) -> Iterator[FunctionNode]:
    """The functions that other processes run as their worker, and those that these call."""
    waiting = [made for value in facts.flow.values(names, worker) for made in facts.flow.run_by(value)]
    seen: set[ast.AST] = set()
    while waiting:
        where, function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        yield function
        calls = (part for part in ast.walk(function) if isinstance(part, ast.Call))
        waiting += [below for call in calls for below in facts.flow.functions(where, call)]
