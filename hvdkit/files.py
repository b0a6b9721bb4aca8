"""A person's files: which may be read, whether they lie in a folder, how one is replaced."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

# Bytes. No source and no record is larger, and what is would fill the memory.
LARGEST = 1 << 28

_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a link",
}


def read_file(path: Path, largest: int = LARGEST, follow: bool = True) -> bytes:
    """The bytes of a regular file. Raises: OSError, also for a FIFO or a device, which may never end.

    follow: whether a link is read that leads to one.
    """
    _check_readable(path, path.stat() if follow else path.lstat(), largest)
    # Again once it is open, and without waiting for a writer: a name may mean another file by now.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    with os.fdopen(os.open(path, flags), "rb") as file:
        _check_readable(path, os.fstat(file.fileno()), largest)
        return file.read()


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path leads to a place in a folder once all links are followed; it need not exist."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def replace_file(path: Path, data: bytes) -> None:
    """Write beside the file and rename over it: at any moment it is the old one or the new one.

    Raises: OSError, also where something is there that is no regular file.
    """
    target = Path(os.path.realpath(path))  # a symbolic link stays a link
    mode = 0o644
    if os.path.lexists(target):
        status = target.lstat()
        _check_regular(target, status)
        mode = stat.S_IMODE(status.st_mode)
    import tempfile  # slow to import, and most commands write nothing

    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise


def _check_readable(path: Path, status: os.stat_result, largest: int) -> None:
    _check_regular(path, status)
    if status.st_size > largest:
        seen = f"it is {status.st_size} bytes, more than the limit of {largest}"
        raise OSError(errno.EFBIG, seen, path)


def _check_regular(path: Path, status: os.stat_result) -> None:
    kind = stat.S_IFMT(status.st_mode)
    if kind != stat.S_IFREG:
        raise OSError(errno.EINVAL, f"it is {_KINDS.get(kind, 'not a file')}, not a regular file", path)
