"""Writing a plan: the gate, the undo record first, then each file atomically."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hvdkit.dataclass import dataclass
from hvdkit.errors import HvdkitError
from hvdkit.files import is_gits, is_inside, replace_file
from hvdkit.migrate.plan import FilePlan
from hvdkit.printable import counted
from hvdkit.shell import word

if TYPE_CHECKING:
    from hvdkit.migrate.write.undo import Change


class DirtyTree(HvdkitError):
    """The tree has uncommitted changes, so that a person could not tell them from hvdkit's."""


class NoVersionControl(HvdkitError):
    """The files are under no version control."""


class OutsideTree(HvdkitError):
    """A file to be written leads out of the folder that was named, or to what git obeys."""


def root_of(paths: Sequence[Path]) -> Path:
    """The version-controlled folder that holds the paths, else their common folder: what may be written.

    A folder that is named by a link is what the link leads to; a file belongs to the folder that names it.
    """
    folders = [os.path.realpath(path if path.is_dir() else path.parent) for path in paths]
    folder = Path(os.path.commonpath(folders))
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    return folder


def check_tree(root: Path, allow_dirty: bool, allow_no_vcs: bool) -> None:
    """Refuse to write where the person could not see or take back what was done."""
    if not (root / ".git").exists():
        if not allow_no_vcs:
            raise NoVersionControl(
                f"{root} is not under version control",
                "the change could not be inspected or reverted with git",
                "git init, git add and git commit it, or add --allow-no-vcs (--undo works either way)",
            )
        return
    if allow_dirty:
        return
    from hvdkit.migrate.write.git import changes

    count = changes(root)
    if count:
        raise DirtyTree(
            f"{root} has {counted(count, 'uncommitted change')}",
            "hvdkit's edits would be mixed with yours",
            "git commit or git stash them, or add --allow-dirty",
        )


def write_gate(paths: Sequence[Path]) -> list[str]:
    """The option without which --write would refuse these paths, if there is one."""
    try:
        check_tree(root_of(paths), allow_dirty=False, allow_no_vcs=False)
    except DirtyTree:
        return ["--allow-dirty"]
    except NoVersionControl:
        return ["--allow-no-vcs"]
    return []


@dataclass(frozen=True)
class Written:
    """What one write did."""

    files: tuple[Path, ...]
    record: Path


def write(files: Sequence[FilePlan], root: Path) -> Written:
    """Replace each changed file, after a record from which `undo` restores every byte."""
    from hvdkit.migrate.write.undo import Change

    changes = {
        file.path: Change(file.before.encode(file.encoding), file.after.encode(file.encoding))
        for file in files
        if file.changed
    }
    return write_all(changes, root)


def write_all(changes: Mapping[Path, Change], root: Path) -> Written:
    """Write files below root, after a record.

    Raises: OSError; OutsideTree, Busy, ChangedSince with nothing written.
    """
    from hvdkit.migrate.write.undo import alone, record

    check_inside(changes, root)
    with alone(root):
        made = record(changes, root)
        for path, change in changes.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, change.after, change.mode)
    return Written(tuple(changes), made)


def check_inside(wanted: Iterable[Path], root: Path) -> None:
    """Raises: OutsideTree where a file leads out of a folder, or is git's."""
    wanted = [*wanted]
    outside = next((path for path in wanted if not is_inside(path, root)), None)
    if outside is not None:
        real = os.path.realpath(outside)
        raise OutsideTree(
            f"{outside} leads to {real}, outside {root}",
            "files there are outside the project, and could not be restored; nothing was written",
            f"replace the link with a copy: cp --remove-destination {word(real)} {word(outside)}",
        )
    gits = next((path for path in wanted if is_gits(path, root)), None)
    if gits is not None:
        raise OutsideTree(
            f"{gits} leads to {os.path.realpath(gits)}, a file of git's own",
            "git would obey what is written there; nothing was written",
            "name a place outside of .git",
        )
