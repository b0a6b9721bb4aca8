"""Which files a rank writes.

Python tells of each open() through an audit event; torch.save opens its file in C++ (see `contents`).
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from hvdkit.verify.hook.places import place_of
from hvdkit.verify.hook.settings import Settings

WRITING = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC


ATTRIBUTES = ("os.chmod", "os.chown", "os.utime", "os.setxattr", "os.removexattr")


class Writing(Protocol):
    """What is told of files: the recorder of either framework."""

    settings: Settings
    writes: list[str]
    written_at: list[str]


def watch_files(recorder: Writing) -> Callable[[object], str]:
    """Note every file that this process opens for writing, or renames into place.

    Gives the function that notes one, for files that are not opened by Python, and tells its name ("" for
    what is no file of the script's).
    """
    work = Path.cwd().resolve()
    own = (str(recorder.settings.path), os.environ.get("TMPDIR", "/tmp"), "/dev/", "/proc/")

    def note(target: object) -> str:
        if not isinstance(target, (str, bytes, os.PathLike)):
            return ""  # an open file descriptor
        path = Path(os.path.abspath(os.fsdecode(target)))
        if str(path).startswith(own) or path.suffix == ".pyc" or "__pycache__" in path.parts:
            return ""
        real = path.parent.resolve() / path.name
        name = str(real.relative_to(work) if real.is_relative_to(work) else real)
        if name not in recorder.writes:
            recorder.writes.append(name)
            recorder.written_at.append(place_of())
        return name

    is_copy = work.is_relative_to(recorder.settings.path.parent)

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and arguments[2] & WRITING:
            note(arguments[0])
        elif event == "os.rename":
            note(arguments[1])
        elif is_copy and event in ATTRIBUTES and not isinstance(arguments[0], int):
            _refuse_linked(Path(os.path.abspath(os.fsdecode(arguments[0]))), work)

    sys.addaudithook(audit)
    return note


def _refuse_linked(path: Path, work: Path) -> None:
    """Of a file that a copy of the folder links, the kernel keeps the contents alone from being changed."""
    if path.is_relative_to(work) and not path.resolve().is_relative_to(work):
        raise PermissionError(errno.EACCES, "too large to be copied for this run", str(path))
