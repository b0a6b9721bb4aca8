"""The command of each rank, as it was typed: a script, a notebook, or a program with its arguments."""

from __future__ import annotations

import difflib
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from hvdkit.errors import UsageError
from hvdkit.launch import notebook
from hvdkit.launch.launchers import refuse_launchers

_PYTHON = ("python", "python3")
_ALIKE = 0.6  # of difflib: one or two letters of these words


def command_of(words: Sequence[str], say: Callable[[str], None], force: bool) -> list[str]:
    """What starts a rank: `train.py` is `python train.py`, and a notebook is run as one program.

    Raises: UsageError where nothing can be started, or other launchers; MagicsError, unless `force`.
    """
    command = list(words[1:] if words[:1] == ["--"] else words)
    if not command:
        raise UsageError("there is no command to run", fix="hvdkit run -np 2 python train.py")
    refuse_launchers(command)
    command = notebook.as_command(command, say, force)
    if shutil.which(command[0]) is not None:
        return command
    if command[0].endswith(".py") and Path(command[0]).is_file():
        return [sys.executable, *command]
    raise _unknown(command)


def _unknown(command: Sequence[str]) -> UsageError:
    name, *rest = command
    if name.endswith(".py"):
        return UsageError(
            f"{name}: no such file", fix="hvdkit run ... python SCRIPT, from the folder it is in"
        )
    meant = difflib.get_close_matches(name, _PYTHON, 1, _ALIKE)
    if meant:
        return UsageError(f"{name}: no such program", fix=f"hvdkit run ... {shlex.join([*meant, *rest])}")
    return UsageError(
        f"{name}: no such program", why="every rank starts it", fix=f"install {name}, or name its path"
    )
