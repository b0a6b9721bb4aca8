"""Which processes read a variable."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.index.names import Names


def only_root_reads(facts: Facts, names: Names, target: ast.expr) -> bool:
    """Whether only rank 0 reads a variable of a function."""
    owner = names.scope(target).owner(target.id) if isinstance(target, ast.Name) else None
    if not isinstance(target, ast.Name) or owner is None or owner is names.module:
        return False
    uses = (use for use in names.uses[target.id] if names.scope(use).owner(target.id) is owner)
    reads = [use for use in uses if isinstance(use.ctx, ast.Load)]
    return all(where_runs(facts, names, use) is Where.RANK_0 for use in reads)
