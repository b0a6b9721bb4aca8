"""The loaders of a project: every DataLoader that is constructed, and those of libraries that shard."""

from __future__ import annotations

import ast

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.library_groups import calls_asking
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.keywords import keywords
from hvdkit.migrate.values.loader_classes import PARAMETERS, constructions
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names


@dataclass(frozen=True)
class Loader:
    """A DataLoader call, or a library's that shards, with its sampler, batch_sampler and shuffle."""

    names: Names
    node: ast.Call
    value: Value
    dataset: ast.expr | None
    sampler: ast.expr | None
    batch_sampler: ast.expr | None
    shuffle: ast.expr | None


@once
def every_loader(facts: Facts) -> list[Loader]:
    """Every loader that is constructed, in file order."""
    made = {(site.names, site.node, words.LOADER) for site in facts.calls(words.LOADER)}
    made.update((*call, words.LOADER) for call in constructions(facts.flow, facts.files))
    made.update((site.names, site.node, site.name) for site in calls_asking(facts, *words.LIBRARY_LOADERS))
    made.update((site.names, site.node, site.name) for site in facts.calls(*words.GRAPH_LOADERS))
    return [_loader(facts, *one) for one in sorted(made, key=_place)]


def _loader(facts: Facts, names: Names, node: ast.Call, name: str) -> Loader:
    given = dict(zip(PARAMETERS, node.args)) if name == words.LOADER else {}
    given.update(keywords(facts.flow, names, node))
    return Loader(
        names,
        node,
        Value("made", name, node, names),
        given.get("dataset"),
        _not_none(given.get("sampler")),
        _not_none(given.get("batch_sampler")),
        given.get("shuffle"),
    )


def _place(made: tuple[Names, ast.Call, str]) -> tuple[str, int, int]:
    names, node, _ = made
    return str(names.source.path), node.lineno, node.col_offset


def _not_none(node: ast.expr | None) -> ast.expr | None:
    return None if isinstance(node, ast.Constant) and node.value is None else node
