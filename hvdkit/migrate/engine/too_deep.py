"""The file whose values take more nested calls to follow than the stack holds is left; the others are not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hvdkit.migrate.index.names import Names
from hvdkit.migrate.project.files import Project, Reader
from hvdkit.migrate.project.opening import reopen
from hvdkit.migrate.read import room
from hvdkit.migrate.read.source import Unreadable


def without_deepest(project: Project, error: RecursionError, reader: Reader) -> Project:
    """The project without the file whose chain ended in `error`. Raises: the error, if it is of no file."""
    path = _deepest(error)
    if path not in project.files:
        raise error
    reason = f"a chain of its values needs more than {room.FRAMES} nested calls to follow: build it in a loop"
    project.unreadable[path] = Unreadable(path, reason)
    return reopen(project, {}, reader)


def _deepest(error: RecursionError) -> Path:
    """The file that most of the calls are about: what follows values has the file's names at hand."""
    counts: Counter[Path] = Counter()
    trace = error.__traceback__
    while trace is not None:
        held = trace.tb_frame.f_locals.values()
        counts.update({value.source.path for value in held if isinstance(value, Names)})
        trace = trace.tb_next
    return max(counts, key=counts.__getitem__, default=Path())
