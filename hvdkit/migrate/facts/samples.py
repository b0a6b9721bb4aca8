"""What runs while samples are read: in each rank for its own ones, and often in a loader's worker."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from hvdkit.migrate.names import Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts

MAX_CALLERS = 4
READS = ("__getitem__", "__getitems__")


def reads_sample(facts: Facts, names: Names, node: ast.AST, depth: int = 0) -> bool:
    """Whether a node runs in the `__getitem__` of a dataset, or in what that calls."""
    function = names.function(node)
    if function is None or depth > MAX_CALLERS:
        return False
    if getattr(function, "name", "") in READS and isinstance(names.parents[function], ast.ClassDef):
        return True
    sites = facts.flow.call_sites(names, function)
    return any(reads_sample(facts, where, call, depth + 1) for where, call in sites)
