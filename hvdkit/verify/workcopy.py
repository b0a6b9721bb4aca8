"""A copy of a folder with all that is in it.

A link in a copy would be written through, by whatever opens it. So files are copied while there is room, and
the rest is linked only where nothing can write to it: what is mounted for reading, or shielded (`shield`).
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections import deque
from contextlib import suppress
from pathlib import Path

from hvdkit.errors import HvdkitError
from hvdkit.verify.environments import is_environment

# Bytes that one copy holds at most: a disk writes as much in seconds, and a verification has several runs.
LARGEST = 8 << 30
# No file takes a larger part of what is left of that than one of so many.
SHARE = 16
# Bytes that an entry occupies at least.
BLOCK = 4096
# Of <linux/fs.h>: a file becomes a copy that shares the blocks of the other until either is written.
REFLINK = 0x40049409
# Folders above the current one whose other contents can be reached from the copy.
AROUND = 2
APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")


class CopyError(HvdkitError):
    """The current folder is too large to be copied, and nothing else keeps a run from writing to it."""


class _TooLarge(Exception):
    pass


def copy_folder(source: Path, target: Path, scratch: Path, reason: str, shielded: bool) -> list[Path]:
    """Fill `target` (created here) with copies of what is in `source`; gives what is linked for want of room.

    Environments, sockets, devices and what cannot be read are left out, and so is `scratch`. reason: why the
    folder has to be copied. shielded: nothing can write through a link. Raises CopyError.
    """
    room = min(LARGEST, shutil.disk_usage(scratch).free // 2)
    copying = _Copying(source, target, scratch, room, shielded)
    try:
        copying.run()
    except _TooLarge:
        largest, size = _largest_in(source)
        raise CopyError(
            f"{largest} is {_gigabytes(size)}, and a copy of {source} holds at most {_gigabytes(room)}",
            f"each run needs its own files ({reason}), and through a link it could write to yours",
            _way_out(largest),
        ) from None
    return copying.linked


class _Copying:
    """One copy of a folder. room: bytes that it may still occupy. linked: what had no room."""

    def __init__(self, source: Path, target: Path, scratch: Path, room: int, shielded: bool) -> None:
        self.source, self.target, self.scratch = source, target, scratch
        self.room, self.shielded = room, shielded
        self.linked: list[Path] = []
        self.copies: dict[tuple[int, int], Path] = {}  # of files with several names
        self.todo = deque([(source, target)])

    def run(self) -> None:
        """Breadth first: code comes before what is deep inside a data set."""
        made = []
        while self.todo:
            folder, copy = self.todo.popleft()
            made.append((folder, copy))
            copy.mkdir(parents=True)
            for entry in os.scandir(folder):
                path, place = Path(entry.path), copy / entry.name
                if entry.is_symlink():
                    self._link(path, place)
                elif os.access(path, os.R_OK) and path != self.scratch:
                    self._entry(path, place)
        for folder, copy in reversed(made):  # last: nothing can be made in a folder that is read-only
            shutil.copystat(folder, copy)

    def _entry(self, path: Path, place: Path) -> None:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            if os.statvfs(path).f_flag & os.ST_RDONLY:
                place.symlink_to(path)
            elif os.access(path, os.X_OK) and not is_environment(path) and self._fits(BLOCK, path, place):
                self.todo.append((path, place))
        elif stat.S_ISREG(status.st_mode):
            self._file(path, place, status)
        elif stat.S_ISFIFO(status.st_mode):
            os.mkfifo(place)

    def _file(self, path: Path, place: Path, status: os.stat_result) -> None:
        key = (status.st_dev, status.st_ino)
        if key in self.copies:
            os.link(self.copies[key], place)
            return
        if status.st_nlink > 1:
            self.copies[key] = place
        if not _reflink(path, place):
            if not self._fits(max(BLOCK, status.st_size), path, place):
                return
            shutil.copyfile(path, place)
        shutil.copystat(path, place)

    def _link(self, path: Path, place: Path) -> None:
        """A link inside the folder is one inside the copy; what a link out of it leads to is copied."""
        leads, target = path.readlink(), Path(os.path.realpath(path))
        if target.is_relative_to(self.source):
            place.symlink_to(self.target / target.relative_to(self.source) if leads.is_absolute() else leads)
        elif not target.is_relative_to(self.target) and not self.source.is_relative_to(target):
            if target.is_char_device():
                place.symlink_to(target)
            elif target.exists() and os.access(target, os.R_OK):
                self._entry(target, place)

    def _fits(self, size: int, path: Path, place: Path) -> bool:
        """Whether there is room for a copy; else it is linked. What is small finds room to the end."""
        fits = size <= (self.room // SHARE if self.shielded else self.room)
        if fits:
            self.room -= size
        elif self.shielded:
            place.unlink(missing_ok=True)
            place.symlink_to(path)
            self.linked.append(path)
        else:
            raise _TooLarge
        return fits


def _reflink(path: Path, place: Path) -> bool:
    """Make a copy that occupies no room, where the file system can."""
    with path.open("rb") as source, place.open("wb") as target, suppress(OSError):
        fcntl.ioctl(target.fileno(), REFLINK, source.fileno())
        return True
    return False


def _largest_in(folder: Path) -> tuple[Path, int]:
    """What occupies most in a folder."""
    sizes = {Path(entry.path): _size(Path(entry.path)) for entry in os.scandir(folder)}
    return max(sizes.items(), key=lambda item: item[1])


def _size(path: Path) -> int:
    if not path.is_dir():
        return path.stat().st_size if path.exists() else 0
    files = (Path(root, name) for root, _, names in os.walk(path) for name in names)
    return sum(max(BLOCK, file.lstat().st_size) for file in files)


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"


def _way_out(largest: Path) -> str:
    if APPARMOR.is_file() and APPARMOR.read_text().strip() == "1":
        return f"sudo sysctl kernel.{APPARMOR.name}=0, which allows an overlay"
    return f"move {largest} out of the folder, and give the script its path"


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


def make_view(source: Path, view: Path) -> None:
    """Fill `view` (created here) with links to what is in `source`: for reading, and for `put_file`."""
    view.mkdir()
    for entry in os.scandir(source):
        (view / entry.name).symlink_to(entry.path)


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
