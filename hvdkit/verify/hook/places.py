"""Where in the script something happens: the innermost line of its own files."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import FrameType

from hvdkit.verify.environments import in_environment

# The place of a call is where the script calls these.
THROUGH = ("torch.", "horovod.", "hvdkit.")
_work = Path()  # the folder that the script is started in
_own: dict[str, str] = {}  # by file name as in code objects: relative to the work folder; "" for others
_program = ""  # of a notebook, and where its cells begin
_cells: tuple[tuple[int, str], ...] = ()


def begin(program: str = "", cells: tuple[tuple[int, str], ...] = ()) -> None:
    """The script starts here; this module may have been imported elsewhere, in the process that forks it.

    program, cells: those of the run's settings.
    """
    global _work, _program, _cells
    _work, _program, _cells = Path.cwd(), program, cells
    _own.clear()


def started_in() -> Path:
    """The folder that the script was started in."""
    return _work


def module_of(frame: FrameType) -> str:
    """The name of a frame's module, with a dot behind it."""
    return str(frame.f_globals.get("__name__", "")) + "."


def place_of(caller: FrameType | None = None) -> str:
    """FILE:LINE, relative to the work folder; else of what is neither torch nor Horovod nor hvdkit.

    In a notebook, FILE:cell NUMBER:LINE.
    """
    frame: FrameType | None = caller or sys._getframe(1)
    beyond = ""
    while frame is not None:
        if not module_of(frame).startswith(THROUGH):
            name = _relative(frame.f_code.co_filename)
            if name:
                return _address(name, frame.f_lineno)
            beyond = beyond or f"{os.path.abspath(frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back
    return beyond


def _address(name: str, line: int) -> str:
    if name == _program:
        for first, cell in reversed(_cells):
            if first <= line:
                return f"{cell}:{line - first + 1}"
    return f"{name}:{line}"


def is_own(frame: FrameType) -> bool:
    """Whether a frame runs code of the script's own files."""
    return bool(_relative(frame.f_code.co_filename))


def _relative(file: str) -> str:
    """A file of the work folder, relative to it; "" for others."""
    if file not in _own:
        path = Path(os.path.abspath(file))
        inside = path.is_relative_to(_work) and not in_environment(path)
        _own[file] = str(path.relative_to(_work)) if inside else ""
    return _own[file]
