"""What every command that rewrites files does with a plan: write it, put a report in a file, take it back."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from hvdkit.errors import HvdkitError
from hvdkit.migrate.apply import replace_file, root_of, undo, write
from hvdkit.migrate.plan import Plan


def add_gate(parser: argparse.ArgumentParser) -> None:
    """The options that let a command write where what it changes could not be seen or taken back."""
    gate = parser.add_argument_group("where to write")
    gate.add_argument("--allow-dirty", action="store_true", help="write into a tree with uncommitted changes")
    gate.add_argument("--allow-no-vcs", action="store_true", help="write where there is no version control")


def write_in_place(plan: Plan, paths: Sequence[Path], command: str, said: TextIO) -> None:
    """Write the changed files and say so; `command` is the command line that takes them back."""
    if not plan.changed:
        return
    back = f"{command} --undo {os.path.relpath(paths[0])}"
    try:
        written = write(plan.files, root_of(paths))
    except OSError as error:
        raise HvdkitError(
            f"{error.filename or 'a file'} cannot be written: {error.strerror}",
            "each file is either as it was or as the diff shows",
            f"{back} restores those that were written",
        ) from error
    print(f"wrote {len(written.files)} file(s); {back} restores them", file=said)


def put(path: Path, data: bytes) -> None:
    """Write a report. Raises HvdkitError when it cannot."""
    try:
        replace_file(path, data)
    except OSError as error:
        raise HvdkitError(f"{path} cannot be written: {error.strerror}") from error


def undo_last(paths: Sequence[str]) -> None:
    """Restore what the last write around the paths, or here, changed, and name the files."""
    for path in undo(root_of([Path(os.path.abspath(path)) for path in paths] or [Path.cwd()])):
        print(f"restored {os.path.relpath(path)}")
