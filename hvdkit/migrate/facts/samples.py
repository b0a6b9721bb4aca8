"""What runs while samples are read: in each rank for its own ones, and often in a loader's worker."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.arguments import keyword
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.names import Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts

MAX_CALLERS = 4
READS = ("__getitem__", "__getitems__")
TO_WORKERS = ("collate_fn", "worker_init_fn")
LAMBDAS = ("torchvision.transforms.Lambda", "torchvision.transforms.v2.Lambda")


def reads_sample(facts: Facts, names: Names, node: ast.AST, depth: int = 0) -> bool:
    """Whether a node runs where samples are read, or in what is called there.

    That is the `__getitem__` of a dataset, a collate_fn, and the function of a transforms.Lambda.
    """
    function = names.function(node)
    if function is None or depth > MAX_CALLERS:
        return False
    if getattr(function, "name", "") in READS and isinstance(names.parents[function], ast.ClassDef):
        return True
    if function in _given_to_workers(facts):
        return True
    sites = facts.flow.call_sites(names, function)
    return any(reads_sample(facts, where, call, depth + 1) for where, call in sites)


@once
def _given_to_workers(facts: Facts) -> set[ast.AST]:
    """The functions that a loader's workers call beside the dataset's own."""
    given = [(s.names, keyword(s.node, name)) for s in facts.calls(words.LOADER) for name in TO_WORKERS]
    given += [(s.names, s.node.args[0]) for s in facts.calls(*LAMBDAS) if s.node.args]
    return {
        value.node
        for names, function in given
        if function is not None
        for value in facts.flow.values(names, function)
    }
