"""Lets scripts stop where an option asks for another parallelism, so that the rest of them can be migrated.

The branch becomes a `raise` in the tree first: no fact and no rule sees what it held. Its edit is HVD901's.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.stop_at_option import Stop, find_stops, outermost_stop
from hvdkit.source.edits import Edit
from hvdkit.source.index.indexing import index
from hvdkit.source.index.names import Names
from hvdkit.source.read.source import Source, Stopped, parse


def stopped_files(facts: Facts) -> dict[Path, Names]:
    """The files that change when scripts stop at such options, read anew with the branches gone."""
    by_file: dict[Names, list[Stop]] = {}
    stops = find_stops(facts)
    for stop in stops:
        by_file.setdefault(stop.names, []).append(outermost_stop(stop, stops))
    return {names.source.path: index(_stopped(names.source, stops)) for names, stops in by_file.items()}


def _stopped(source: Source, stops: Sequence[Stop]) -> Source:
    fresh = parse(source.path, source.encode(source.raw))
    assert isinstance(fresh, Source), "the file was read before"
    by_place = {(stop.node.lineno, stop.node.col_offset, stop.field): stop for stop in stops}
    choices = [node for node in ast.walk(fresh.tree) if isinstance(node, ast.If)]
    for node in choices:
        for field in ("body", "orelse"):
            stop = by_place.get((node.lineno, node.col_offset, field))
            if stop is not None:
                fresh.stopped.append(_stop(fresh, node, stop))
    return fresh


def _stop(source: Source, node: ast.If, stop: Stop) -> Stopped:
    """Put a `raise` into the tree for what a branch holds."""
    block: list[ast.stmt] = getattr(node, stop.field)
    first, last = block[0], block[-1]
    said = f"{stop.option}: {stop.use.short} does not run under Horovod".replace("\\", "").replace('"', "'")
    text = f'raise SystemExit("{said}")'
    (raising,) = ast.parse(text).body
    for part in ast.walk(raising):
        if isinstance(part, (ast.stmt, ast.expr)):
            part.lineno, part.col_offset = first.lineno, first.col_offset
            part.end_lineno, part.end_col_offset = last.end_lineno, last.end_col_offset
    edit = Edit(source.start(first), source.end(last), text)
    used = {part.id for statement in block for part in ast.walk(statement) if isinstance(part, ast.Name)}
    setattr(node, stop.field, [raising])
    message = f"the script stops where {stop.option} holds: {stop.use.what} {stop.use.does}"
    return Stopped(node, edit, message, frozenset(used))
