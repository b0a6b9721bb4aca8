"""Where torch's SyncBatchNorm or apex's is used as a class, and what its calls are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.code.library_uses import mentions
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.values.arguments import collected, parameters
from hvdkit.source.index.names import Names

# apex's takes the same arguments, and some of its own.
LAYERS = ("torch.nn.SyncBatchNorm", "apex.parallel.SyncBatchNorm")
MAX_CALLERS = 4


def layer_classes(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """Where torch's class or apex's is used, or given to a name."""
    for names, node, qualified, _ in mentions(facts, LAYERS):
        if qualified in LAYERS:
            yield names, node
    for names in facts.files:
        for node in names.attributes.get("SyncBatchNorm", ()):
            parent = names.parents[node]
            if isinstance(parent, ast.Assign) and parent.value is node:
                if set(names.qualified(node)) & set(LAYERS):
                    yield names, node


def keywords_given(facts: Facts, names: Names, call: ast.Call, depth: int = 0) -> set[str]:
    """The names of what a call is given, also by those who call its function: `SyncBatchNorm(**kwargs)`."""
    found: set[str] = set()
    for keyword in call.keywords:
        function = collected(names, keyword.value) if keyword.arg is None else None
        sites = facts.flow.call_sites(names, function) if function is not None else []
        if function is None or not sites or depth > MAX_CALLERS:
            found.add(keyword.arg or "**")
            continue
        own = parameters(function)
        for where, site in sites:
            found |= keywords_given(facts, where, site, depth + 1) - own
    return found
