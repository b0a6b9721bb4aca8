"""The functions and constants of horovod.torch that are read and not called: `hvd.Sum`, `hvd.rank`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import Names

TOPS = ("horovod", "hvdkit")


def horovod_names(facts: Facts) -> Iterator[tuple[Names, ast.expr, str]]:
    """Each reading of a member of horovod.torch with its short name, calls of it left out."""
    for names in facts.files:
        for name in sorted(set().union(*(names.imported(top) for top in TOPS))):
            for node, qualified in names.readings(name):
                module = next((m for m in words.HOROVOD if qualified.startswith(f"{m}.")), None)
                parent = names.parents[node]
                if module and not (isinstance(parent, ast.Call) and parent.func is node):
                    yield names, node, qualified[len(module) + 1 :]
