"""The file whose values cannot be followed, or not in a useful time, is left; the others are not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Union

from hvdkit.source.index.names import Names
from hvdkit.source.project.files import Project, Reader
from hvdkit.source.project.opening import reopen
from hvdkit.source.read import room
from hvdkit.source.read.source import Unreadable

Unfollowed = Union[RecursionError, room.TooManyQuestions]


def without_unfollowed(project: Project, error: Unfollowed, reader: Reader) -> Project:
    """The project without the file that `error` is about. Raises: the error, if it is of no file."""
    path = error.path if isinstance(error, room.TooManyQuestions) else _deepest(error)
    if path not in project.files:
        raise error
    project.unreadable[path] = _reason(path, error)
    return reopen(project, {}, reader)


def _reason(path: Path, error: Unfollowed) -> Unreadable:
    if isinstance(error, room.TooManyQuestions):
        reason = "could not be followed: its values lead to each other in too many ways"
        return Unreadable(path, reason, error.line)
    reason = f"a chain of its values needs more than {room.FRAMES} nested calls to follow: build it in a loop"
    return Unreadable(path, reason)


def _deepest(error: RecursionError) -> Path:
    """The file that most of the calls are about: what follows values has the file's names at hand."""
    counts: Counter[Path] = Counter()
    trace = error.__traceback__
    while trace is not None:
        held = trace.tb_frame.f_locals.values()
        counts.update({value.source.path for value in held if isinstance(value, Names)})
        trace = trace.tb_next
    return max(counts, key=counts.__getitem__, default=Path())
