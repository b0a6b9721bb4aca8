"""The record of a write, and taking the last write back from it.

A record is in the project and may come from somebody else with it. Only one that hvdkit sealed here is read;
only files below its folder are written, and none that git obeys.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hvdkit.dataclass import dataclass
from hvdkit.errors import HvdkitError
from hvdkit.files import LARGEST, give_to_owner, is_gits, is_inside, narrowest, read_file, replace_file, sweep
from hvdkit.migrate.write.seal import NotSealed, opened, sealed
from hvdkit.shell import word

RECORDS = ".hvdkit"
_LOCK = "lock"
_PATIENCE_SECONDS = 10.0  # longer than any write: what is to be written is there before
_RECORD = re.compile(r"undo-([0-9]+)\.json")
_KEYS = {"path", "before", "after_sha256"}


class ChangedSince(HvdkitError):
    """A file was edited after hvdkit wrote it, or nothing was written."""


class Busy(HvdkitError):
    """Another run writes below the same folder."""


class BrokenRecord(HvdkitError):
    """What is kept as a record is none that hvdkit wrote here, or leads out of its folder."""


@dataclass(frozen=True)
class Entry:
    """One file of a record. before: None where it was not there."""

    path: Path
    before: bytes | None
    after_sha256: str


@dataclass(frozen=True)
class Change:
    """What a file holds and will hold. before: None where it is not there. mode: what it may have at most."""

    before: bytes | None
    after: bytes
    mode: int | None = None


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Be the only run that writes below a folder while the block lasts. What killed ones left is removed.

    Raises: Busy; BrokenRecord; OSError.
    """
    folder = _folder(root)
    with suppress(FileExistsError):
        folder.mkdir()
        give_to_owner(folder, root)
    handle = _open_lock(folder)
    try:
        _lock(handle, root)
        sweep(folder)
        records = _records(folder)
        if records:
            for place in _places(records[max(records)], root):
                sweep(place)
        ignore = folder / ".gitignore"
        if not os.path.lexists(ignore):
            replace_file(ignore, b"*\n")  # the records are no part of anybody's project
        yield
    finally:
        os.close(handle)


def record(changes: Mapping[Path, Change], root: Path) -> Path:
    """Keep what is where the files will be written, all of them below root.

    Raises: ChangedSince where a file is not what the change was made from; OSError; HvdkitError.
    """
    folder = _folder(root)
    number = 1 + max(_records(folder), default=0)
    entries = []
    for path, change in changes.items():
        if now(path) != change.before:
            raise ChangedSince(
                f"{path} was changed while hvdkit looked at it",
                "that change would be lost; nothing was written",
                "run it again",
            )
        entries.append(
            {
                "path": os.path.relpath(os.path.realpath(path), os.path.realpath(root)),
                "before": None if change.before is None else base64.b64encode(change.before).decode(),
                "after_sha256": hashlib.sha256(change.after).hexdigest(),
            }
        )
    data = sealed(entries)
    if len(data) > LARGEST:
        raise HvdkitError(
            f"the record of this write would be {len(data)} bytes, more than the limit of {LARGEST}",
            "nothing was written: it could not be undone",
            "write in parts: pass fewer files or folders at a time",
        )
    made = folder / f"undo-{number}.json"
    replace_file(made, data, narrowest(path for path, change in changes.items() if change.before is not None))
    return made


def undo(root: Path) -> list[Path]:
    """Take back the last write; gives the files.

    Raises: ChangedSince, BrokenRecord with nothing taken back; HvdkitError.
    """
    folder = _folder(root)
    if not _records(folder):
        raise ChangedSince(f"nothing to undo under {root}", "no record of a write is there", "")
    try:
        with alone(root):
            return _undo(root, _records(folder))
    except OSError as error:
        raise HvdkitError(
            f"{error.filename or folder} cannot be written: {error.strerror}",
            "the record stays; files before it are as they were",
            "hvdkit migrate --undo again, once it can be written",
        ) from error


def _undo(root: Path, records: Mapping[int, Path]) -> list[Path]:
    if not records:
        raise ChangedSince(f"nothing to undo under {root}", "another run took the last write back", "")
    last = records[max(records)]
    restore = [entry for entry in _read(last, root) if _is_as_written(entry, last)]
    for entry in restore:
        if entry.before is None:
            entry.path.unlink()
        else:
            replace_file(entry.path, entry.before)
    last.unlink()
    return [entry.path for entry in restore]


def _open_lock(folder: Path) -> int:
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        made = os.open(folder / _LOCK, flags | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        return os.open(folder / _LOCK, flags)
    give_to_owner(made, folder)  # only what was made here: it may be a link to a file of root's
    return made


def _lock(handle: int, root: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Busy(
                    f"another hvdkit writes below {root}",
                    "what one writes the other would lose; nothing was written",
                    "run it again when the other is done",
                ) from None
            time.sleep(0.05)


def _places(last: Path, root: Path) -> set[Path]:
    """The folders of a record's files; none where it is broken, which only undoing it has to say."""
    try:
        return {entry.path.parent for entry in _read(last, root)}
    except BrokenRecord:
        return set()


def _folder(root: Path) -> Path:
    folder = root / RECORDS
    if folder.is_symlink():
        raise BrokenRecord(
            f"{folder} is a link to {os.path.realpath(folder)}",
            "its records would belong to a different folder; nothing was written",
            f"rm {word(folder)}",
        )
    return folder


def _records(folder: Path) -> dict[int, Path]:
    """The records by number."""
    found = (_RECORD.fullmatch(path.name) for path in (folder.iterdir() if folder.is_dir() else ()))
    return {int(match[1]): folder / match[0] for match in found if match}


def now(path: Path) -> bytes | None:
    """What a file holds, None where it is not there. Raises: OSError."""
    return read_file(path) if os.path.lexists(path) else None


def _is_as_written(entry: Entry, last: Path) -> bool:
    """Whether a file is what hvdkit made of it, not what it was. Raises: ChangedSince; BrokenRecord."""
    try:
        there = now(entry.path)
    except OSError as error:
        raise _broken(last, f"{str(entry.path)!r} in it cannot be restored: {error.strerror}") from error
    if there == entry.before:
        return False
    if there is None or hashlib.sha256(there).hexdigest() != entry.after_sha256:
        raise ChangedSince(
            f"{entry.path} was changed after hvdkit wrote it",
            "undoing would lose that change",
            "inspect it with git diff, remove your change, and undo again",
        )
    return True


def _read(last: Path, root: Path) -> list[Entry]:
    try:
        entries = opened(read_file(last, follow=False))
    except OSError as error:
        raise _broken(last, f"{error.strerror}") from error
    except NotSealed as error:
        raise _broken(last, str(error)) from error
    except (ValueError, RecursionError) as error:
        raise _broken(last, f"it is not JSON: {error}") from error
    if not isinstance(entries, list) or not entries:
        raise _broken(last, "it is not a list of files")
    return [_entry(last, root, number, entry) for number, entry in enumerate(entries, 1)]


def _entry(last: Path, root: Path, number: int, entry: Any) -> Entry:
    if not isinstance(entry, dict) or entry.keys() != _KEYS:
        raise _broken(last, f"file {number} in it does not have the keys {', '.join(sorted(_KEYS))}")
    path, before, after = entry["path"], entry["before"], entry["after_sha256"]
    if not isinstance(path, str) or not isinstance(before, (str, type(None))) or not isinstance(after, str):
        raise _broken(last, f"file {number} in it has a value of the wrong type")
    below = not Path(path).is_absolute() and ".." not in Path(path).parts
    try:
        if b"\0" in os.fsencode(path):  # Python 3.9 asks for no such file, and says that it is not there
            raise ValueError("a null byte in a path")
        inside = below and is_inside(root / path, root)
        data = None if before is None else base64.b64decode(before, validate=True)
    except ValueError as error:  # a null byte, a character that no file name has, no base64
        raise _broken(last, f"file {number} in it: {error}") from error
    if not inside:
        raise _broken(last, f"it names {path!r}, which is not below {root}")
    if is_gits(root / path, root):
        raise _broken(last, f"it names {path!r}, which git obeys")
    return Entry(root / path, data, after)


def _broken(last: Path, seen: str) -> BrokenRecord:
    return BrokenRecord(
        f"{last} is not a record written by hvdkit here: {seen}",
        "only files that hvdkit wrote, below the folder of the record, are restored; nothing was written",
        f"restore the files with git, and rm {word(last)}",
    )
