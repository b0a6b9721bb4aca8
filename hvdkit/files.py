"""A person's files: which may be read, whether they lie in a folder, how one is replaced."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from hvdkit.errors import HvdkitError

# Bytes. No source and no record is larger, and what is would fill the memory.
LARGEST = 1 << 28
NEW = 0o666  # the mode of a new file, less umask
PERMISSIONS = 0o777  # no file is given the rights of its owner to run with
# What a file is called until it is whole. Who writes it holds a lock on it, which ends with the process.
_TEMPORARY = re.compile(r"\.hvdkit-[0-9a-f]{16}")

_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a link",
}


class OutputError(HvdkitError):
    """What was made cannot be written where it was asked for."""


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


def read_text(path: Path, largest: int = LARGEST) -> str:
    """The text of a regular file; bytes that are no UTF-8 are replaced. Raises: OSError."""
    return read_file(path, largest).decode("utf-8", errors="replace")


def write_output(path: Path, data: bytes, most: int | None = None) -> None:
    """What an option names: a file as a whole, or into a device or a pipe. Raises: OutputError.

    most: as in `replace_file`.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            sweep(Path(os.path.realpath(path)).parent)
            replace_file(path, data, most)
    except OSError as error:
        raise OutputError(
            f"cannot write {path}: {error.strerror or error}", fix="name a file in a folder of yours"
        ) from error


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path leads to a place in a folder once all links are followed; it need not exist."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def is_gits(path: Path, folder: Path) -> bool:
    """Whether a path in a folder is below a `.git`, or is one, as it is written or with links followed."""
    real = os.path.relpath(os.path.realpath(path), os.path.realpath(folder))
    return any(
        part.lower() == ".git" for part in (*Path(os.path.relpath(path, folder)).parts, *Path(real).parts)
    )


def narrowest(sources: Iterable[Path]) -> int:
    """The mode of a file with texts of others: nobody else may read it who may not read each of them."""
    mode = NEW
    for path in sources:
        with suppress(OSError):  # it is not there: nothing of it is in the file
            mode &= path.stat().st_mode
    return mode | stat.S_IRUSR | stat.S_IWUSR


def replace_file(path: Path, data: bytes, most: int | None = None) -> None:
    """Write beside the file and rename over it: at any moment it is the old one or the new one.

    It keeps its mode and, as far as this user may give it, its owner. A new one has the mode that umask
    leaves, and the owner of its folder where root writes it. most: a mode with all that may be allowed.

    Raises: OSError, also where something is there that is no regular file.
    """
    target = Path(os.path.realpath(path))  # a symbolic link stays a link
    old = target.lstat() if os.path.lexists(target) else None
    if old is not None:
        _check_regular(target, old)
    handle, temporary = _temporary(target.parent)
    with os.fdopen(handle, "wb") as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if old is None:
                give_to_owner(file.fileno(), target.parent)
                mode = (NEW if most is None else most) & ~_umask()
            else:
                mode = _as_owned(file.fileno(), old) & (PERMISSIONS if most is None else most)
            os.fchmod(file.fileno(), mode & PERMISSIONS)
            temporary.replace(target)
        except BaseException:
            with suppress(FileNotFoundError):
                temporary.unlink()
            raise


def give_to_owner(made: int | Path, folder: Path) -> None:
    """Where root makes a file or folder: give it to the owner of the folder around it, who has to undo it."""
    if os.geteuid() == 0:
        status = folder.stat()
        if isinstance(made, int):
            os.fchown(made, status.st_uid, status.st_gid)
        else:
            os.chown(made, status.st_uid, status.st_gid, follow_symlinks=False)


def sweep(folder: Path) -> None:
    """Remove what a process that was killed left of the files that it wrote in a folder."""
    with suppress(OSError):  # it is no folder, or may not be read: nothing was written there either
        for entry in os.scandir(folder):
            if _TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_unlocked(Path(entry.path))


def read_stream(file: BinaryIO, name: str, largest: int = LARGEST) -> bytes:
    """All that a stream gives, which may be a pipe. Raises: OSError, also for more than largest."""
    data = file.read(largest + 1)
    if len(data) > largest:
        raise OSError(errno.EFBIG, f"it holds more than the {largest} bytes that are read", name)
    return data


def _temporary(folder: Path) -> tuple[int, Path]:
    while True:
        path = folder / f".hvdkit-{os.urandom(8).hex()}"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with suppress(OSError):  # a file system without locks: nothing is swept there
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, path
        os.close(handle)  # a sweep came before the lock


def _remove_unlocked(path: Path) -> None:
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        finally:
            os.close(handle)


def _as_owned(handle: int, old: os.stat_result) -> int:
    """Give a file the owner and group of the one that it replaces; gives the mode that fits them."""
    for owner in (old.st_uid, -1):  # who is not root may give it to a group of theirs at most
        with suppress(OSError):
            os.fchown(handle, owner, old.st_gid)
            break
    mode = old.st_mode & PERMISSIONS
    return mode if os.fstat(handle).st_gid == old.st_gid else mode & ~stat.S_IRWXG


def _umask() -> int:
    mask = os.umask(0o077)  # it can only be read by setting it
    os.umask(mask)
    return mask


def _check_readable(path: Path, status: os.stat_result, largest: int) -> None:
    _check_regular(path, status)
    if status.st_size > largest:
        seen = f"it is {status.st_size} bytes, more than the limit of {largest}"
        raise OSError(errno.EFBIG, seen, path)


def _check_regular(path: Path, status: os.stat_result) -> None:
    kind = stat.S_IFMT(status.st_mode)
    if kind != stat.S_IFREG:
        raise OSError(errno.EINVAL, f"it is {_KINDS.get(kind, 'not a file')}, not a regular file", path)
