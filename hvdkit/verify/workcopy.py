"""A folder of its own for each run, that looks like the current one and can be written without a trace.

Both runs start from the files that are here now, and neither sees what the other wrote: a checkpoint left
by the first run would be resumed by the second. Small files are copied, large ones and large folders (data
sets) are linked.
"""

from __future__ import annotations

import os
import shutil
from collections import deque
from pathlib import Path

# Bytes. Source and configuration are smaller, checkpoints and data larger.
LARGEST_COPY = 1 << 16
# Folders above the current one whose other contents can be reached from the copy.
AROUND = 2
# Entries looked at: beyond it, what is left is linked folder by folder (breadth first, so code comes first).
MOST_ENTRIES = 5_000


def make_work_copy(source: Path, target: Path) -> None:
    """Fill `target` (created here) with what is in `source`: folders made, small files copied, others linked.

    Hidden folders (version control, environments) and unreadable ones are linked as a whole.
    """
    entries = 0
    todo = deque([(source, target)])
    while todo:
        folder, copy = todo.popleft()
        copy.mkdir(parents=True)
        for entry in os.scandir(folder):
            entries += 1
            place = copy / entry.name
            is_plain = not entry.name.startswith(".") and os.access(entry.path, os.R_OK | os.X_OK)
            if entry.is_dir(follow_symlinks=False) and is_plain and entries < MOST_ENTRIES:
                todo.append((Path(entry.path), place))
            elif entry.is_file(follow_symlinks=False) and entry.stat().st_size <= LARGEST_COPY:
                shutil.copy2(entry.path, place)
            else:
                place.symlink_to(entry.path)


def make_surroundings(here: Path, folder: Path) -> Path:
    """Make a place for a copy of `here` under `folder` from which `../data` and `../../data` are found.

    The folders around it hold links to what lies beside `here` and beside its parent. Gives the place, which
    does not exist yet.
    """
    around = list(here.parents)[:AROUND]
    place = folder.joinpath(*(part.name for part in reversed(around)), here.name or "root")
    inner = here
    for outer, copy in zip(around, place.parents):
        copy.mkdir(parents=True, exist_ok=True)
        for entry in os.scandir(outer) if os.access(outer, os.R_OK | os.X_OK) else ():
            if entry.name != inner.name and not (copy / entry.name).is_symlink():
                (copy / entry.name).symlink_to(entry.path)
        inner = outer
    return place


def inside_copy(path: Path, source: Path, copy: Path) -> Path:
    """Where a file of `source` lies in its copy; a file from elsewhere stays where it is."""
    path = path.resolve()
    return copy / path.relative_to(source) if path.is_relative_to(source) else path


def put_file(copy: Path, place: Path, data: bytes) -> None:
    """Write a file into a copy, at a place relative to it; linked folders on the way become its own."""
    folder = copy
    for name in place.parent.parts:
        folder = folder / name
        if folder.is_symlink():
            linked = folder.resolve()
            folder.unlink()
            folder.mkdir()
            for entry in linked.iterdir():
                (folder / entry.name).symlink_to(entry)
    target = copy / place
    target.unlink(missing_ok=True)  # a link would be written through
    target.write_bytes(data)
