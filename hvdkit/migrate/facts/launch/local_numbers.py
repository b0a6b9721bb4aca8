"""Whether a number is the local rank: in every case, or maybe."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.launch.rank_kinds import CONSTANT, UNKNOWN, rank_kinds
from hvdkit.source.index.names import Names

LOCAL = "local_rank"


def may_be_local_rank(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether a number is the local rank, wherever it is known what it is, and is not read as the rank."""
    if _by_launcher(facts, names, node):
        return True
    kinds = rank_kinds(facts).of(names, node)
    known = LOCAL in kinds and kinds <= {LOCAL, UNKNOWN, CONSTANT}
    return known and "rank" not in launch_of(facts).meaning(names, node)


def is_local_rank_alone(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether a number that may be the local rank is it in every case."""
    bindings = names.bindings(node.id, node) if isinstance(node, ast.Name) else []
    values = [binding.value for binding in bindings if binding.value is not None]
    if any(not may_be_local_rank(facts, names, value) for value in values):
        return False  # `seed = args.seed` without a job
    return _by_launcher(facts, names, node) or UNKNOWN not in rank_kinds(facts).of(names, node)


def _by_launcher(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether a number is the option that torch.distributed.launch gives each process its local rank by."""
    return launch_of(facts).meaning(names, node) == {LOCAL}
