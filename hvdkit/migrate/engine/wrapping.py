"""Files with their models wrapped in DDP, read anew: every other rule of the way back sees the wrapper."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from hvdkit.migrate.decisions.ddp_wraps import ddp_wraps
from hvdkit.migrate.engine.rewriting import merged
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.coverage.through_ddp import passes_around
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.report.locations import lines_before
from hvdkit.source.edits import Edit
from hvdkit.source.index.indexing import index
from hvdkit.source.index.names import Names
from hvdkit.source.read.source import Original, Source, parse


def wrapped_files(facts: Facts) -> dict[Path, Names]:
    """The files in which Horovod's optimizers are replaced by DDP around their models."""
    by_file: dict[Names, list[Edit]] = defaultdict(list)
    for wrapping in ddp_wraps(facts):
        for names, edit in wrapping.edits:
            by_file[names].append(edit)
    fresh = {names: _rewritten(facts, names, edits) for names, edits in by_file.items()}
    return {names.source.path: index(source) for names, source in fresh.items() if source is not None}


def said_literally(facts: Facts, wrapped: Facts) -> frozenset[Path]:
    """The entries of programs that train around DDP. wrapped: the facts of the texts with it."""
    around = {found.names.source.path for found in passes_around(wrapped)}
    return frozenset(
        program.entry.source.path
        for program in programs_of(facts)
        if not around.isdisjoint(names.source.path for names in program.files)
    )


def _rewritten(facts: Facts, names: Names, changes: list[Edit]) -> Source | None:
    """The file as the changes leave it; None where it would not parse."""
    source = names.source
    fresh = parse(source.path, source.encode(merged(facts, names, changes, [])))
    if not isinstance(fresh, Source):
        return None
    own = [source.own_line(number) for number in lines_before(source, fresh)]
    fresh.original = Original(source.raw, own)
    return fresh
