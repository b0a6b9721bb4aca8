"""What commands write: a plan in place, or files elsewhere; and how it is taken back."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TextIO

from hvdkit.errors import HvdkitError
from hvdkit.migrate.plan import Plan
from hvdkit.migrate.write.apply import check_inside, root_of, write, write_all
from hvdkit.printable import counted, one_line
from hvdkit.shell import word


class ExistsError(HvdkitError):
    """A file to be written is there, with other contents."""


def add_gate(parser: argparse.ArgumentParser) -> None:
    """The options that let a command write where what it changes could not be seen or taken back."""
    gate = parser.add_argument_group("where to write")
    gate.add_argument("--allow-dirty", action="store_true", help="write to a tree with uncommitted changes")
    gate.add_argument("--allow-no-vcs", action="store_true", help="write where there is no version control")


def write_in_place(plan: Plan, paths: Sequence[Path], command: str, said: TextIO) -> None:
    """Write the changed files and say so; `command` is the command line that takes them back."""
    if not plan.changed:
        return
    back = f"{command} --undo {word(os.path.relpath(paths[0]))}"
    with _failing(f"{back} restores those that were written"):
        written = write(plan.files, root_of(paths))
    print(f"wrote {counted(len(written.files), 'file')}; {back} restores them", file=said)


def write_elsewhere(
    wanted: Mapping[Path, bytes],
    folder: Path,
    force: bool,
    command: str,
    said: TextIO,
    sources: Mapping[Path, Path],
) -> None:
    """Write files under a folder and say so. Raises: ExistsError; OutsideTree; HvdkitError."""
    name = os.path.relpath(folder)
    back = f"{command} --undo {word(name)}"
    write_new(wanted, folder, force, "another --output keeps both", back, sources)
    print(f"wrote {counted(len(wanted), 'file')} under {one_line(name)}; {back} removes them", file=said)


def write_new(
    wanted: Mapping[Path, bytes],
    folder: Path,
    force: bool,
    instead: str,
    back: str,
    sources: Mapping[Path, Path] = MappingProxyType({}),
) -> tuple[Path, ...]:
    """Write those of the files in a folder that are not there as they should be, after a record; gives them.

    instead: what to do other than --force. back: the command that takes it back. sources: the files that some
    were made of, whose mode they get.
    Raises: ExistsError where one of them has other contents; OutsideTree where one leads out; HvdkitError.
    """
    from hvdkit.migrate.write.undo import Change, now

    check_inside(wanted, folder)
    with _failing(""):
        changes = {
            path: Change(now(path), data, sources[path].stat().st_mode if path in sources else None)
            for path, data in wanted.items()
        }
    changes = {path: change for path, change in changes.items() if change.before != change.after}
    there = [str(path) for path, change in changes.items() if change.before is not None]
    if there and not force:
        raise ExistsError(
            f"these files exist: {', '.join(there)}",
            "their contents would be lost; nothing was written",
            f"--force replaces them; {instead}",
        )
    for place in dict.fromkeys((folder, *(path.parent for path in changes))):
        _make_folder(place)
    if changes:
        with _failing(f"{back} takes back those that were written"):
            write_all(changes, root_of([folder]))
    return tuple(changes)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HvdkitError(f"{folder} cannot be created: {error.strerror}") from error


def undo_last(paths: Sequence[str]) -> None:
    """Take back what the last write around the paths, or here, did, and name the files."""
    from hvdkit.migrate.write.undo import undo

    for path in undo(root_of([Path(os.path.abspath(path)) for path in paths] or [Path.cwd()])):
        print(f"{'restored' if path.exists() else 'removed'} {one_line(os.path.relpath(path))}")


@contextmanager
def _failing(fix: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise HvdkitError(
            f"{error.filename or 'a file'} cannot be written: {error.strerror}",
            "each file is either unchanged or complete" if fix else "",
            fix,
        ) from error
