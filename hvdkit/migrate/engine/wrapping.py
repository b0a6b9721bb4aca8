"""Files with their models wrapped in DDP, read anew: every other rule of the way back sees the wrapper."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from hvdkit.migrate.decisions.ddp_wraps import ddp_wraps
from hvdkit.migrate.engine.rewriting import merged
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.index.indexing import index
from hvdkit.migrate.index.names import Names
from hvdkit.migrate.plan import Edit
from hvdkit.migrate.read.source import Original, Source, parse
from hvdkit.migrate.report.locations import lines_before


def wrapped_files(facts: Facts) -> dict[Path, Names]:
    """The files in which Horovod's optimizers are replaced by DDP around their models."""
    by_file: dict[Names, list[Edit]] = defaultdict(list)
    for wrapping in ddp_wraps(facts):
        for names, edit in wrapping.edits:
            by_file[names].append(edit)
    fresh = {names: _rewritten(facts, names, edits) for names, edits in by_file.items()}
    return {names.source.path: index(source) for names, source in fresh.items() if source is not None}


def _rewritten(facts: Facts, names: Names, changes: list[Edit]) -> Source | None:
    """The file as the changes leave it; None where it would not parse."""
    source = names.source
    fresh = parse(source.path, source.encode(merged(facts, names, changes, [])))
    if not isinstance(fresh, Source):
        return None
    own = [source.own_line(number) for number in lines_before(source, fresh)]
    fresh.original = Original(source.raw, own)
    return fresh
