"""What of a folder an overlay on it alone would not protect: links that lead out, files of other users."""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from hvdkit.verify.environments import is_environment

# Entries read: a data set may have millions. Breadth first, so that what is left is deep inside of one.
MOST_ENTRIES = 100_000
# What the kernel shows there is no file, and needs no overlay.
KERNEL = (Path("/proc"), Path("/sys"))
# Whoever covers these covers devices, too.
TOO_MUCH = (Path("/"), Path("/dev"))


@dataclass(frozen=True)
class Survey:
    """outside: folders that links lead to and that may be written. owned: links to files in a folder that
    cannot be covered. unowned: a link to such a folder; foreign: what may be written and is of a different
    user or group; each None if there is none."""

    outside: tuple[Path, ...]
    owned: tuple[Path, ...]
    unowned: Path | None
    foreign: Path | None


def survey(here: Path, scratch: Path) -> Survey:
    """Read a folder, and those that its links lead to. scratch: where what is written is kept."""
    outside: dict[Path, None] = {}
    owned: list[Path] = []
    unowned = foreign = None
    todo = deque([here])
    read: set[Path] = set()
    entries = 0
    while todo and entries < MOST_ENTRIES:
        folder = todo.popleft()
        if folder in read:
            continue
        read.add(folder)
        for entry in _entries(folder):
            entries += 1
            path = Path(entry.path)
            target = Path(os.path.realpath(path)) if entry.is_symlink() else path
            if target is not path and not _leads_out(target, here):
                continue
            todo.extend([target] if entry.is_dir() and not is_environment(target) else [])
            foreign = foreign or (target if _is_foreign(target) else None)
            holder = target if target.is_dir() else target.parent
            if target is path or any(holder.is_relative_to(known) for known in outside):
                continue
            if _can_be_covered(holder, scratch):
                outside[holder] = None
            elif target.is_dir():
                unowned = unowned or path
            else:
                owned.append(path)
    tops = tuple(each for each in outside if not any(other in each.parents for other in outside))
    return Survey(tops, tuple(owned), unowned, foreign)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    return list(os.scandir(folder)) if os.access(folder, os.R_OK | os.X_OK) else []


def _leads_out(target: Path, here: Path) -> bool:
    """Whether what a link leads to is outside the folder, and may be written."""
    if any(target.is_relative_to(known) for known in (here, *KERNEL)):
        return False
    holder = target if target.exists() else target.parent  # a file that is missing may be made
    if not holder.is_dir():
        return holder.is_file() and os.access(holder, os.W_OK)
    return not os.statvfs(holder).f_flag & os.ST_RDONLY


def _can_be_covered(folder: Path, scratch: Path) -> bool:
    return folder not in TOO_MUCH and not scratch.is_relative_to(folder)


def _is_foreign(path: Path) -> bool:
    """In a user namespace an overlay can take over only files of the user who made it."""
    if not path.exists():
        return False
    status = path.stat()
    mine = (status.st_uid, status.st_gid) == (os.geteuid(), os.getegid())
    return not mine and os.access(path, os.W_OK)
