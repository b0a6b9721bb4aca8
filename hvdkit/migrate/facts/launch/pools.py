"""What runs in the processes of a pool: Horovod, which the ranks initialise, has no rank for them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from hvdkit.migrate.facts.once import once
from hvdkit.migrate.names import FUNCTIONS, Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts

# Methods that hand a function to a pool: no other library's have the first ones' names.
HAND_ON = ("apply_async", "imap", "imap_unordered", "map_async", "starmap", "starmap_async")
ALSO_OTHERS = ("apply", "map", "submit")
POOLS = (".Pool", ".ProcessPoolExecutor")
THREADS = ("Thread", "dummy.")


def in_pool(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether some way to a node goes through a pool's process, forked or not."""
    handed = _handed(facts)
    seen: set[ast.AST] = set()
    waiting: list[tuple[Names, ast.AST]] = [(names, node)] if handed else []
    while waiting:
        where, place = waiting.pop()
        function = where.function(place)
        if function in handed:
            return True
        if function is not None and function not in seen:
            seen.add(function)
            waiting += facts.graph.ways(where, function)
    return False


@once
def _handed(facts: Facts) -> set[ast.AST]:
    """The functions that are handed to a pool."""
    found: set[ast.AST] = set()
    for method in (*HAND_ON, *ALSO_OTHERS):
        for names, call, pool in facts.methods(method):
            given = call.args[0] if call.args else None
            if given is not None and _of_processes(facts, names, pool, method):
                values = facts.flow.values(names, given)
                found |= {value.node for value in values if isinstance(value.node, FUNCTIONS)}
    return found


def _of_processes(facts: Facts, names: Names, pool: ast.expr, method: str) -> bool:
    made = facts.flow.made(names, pool)
    if any(word in name for name in made for word in THREADS):
        return False
    return method in HAND_ON or any(name.endswith(POOLS) for name in made)
