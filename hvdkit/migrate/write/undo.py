"""The record of a write, and taking the last write back from it.

A record lies in the project and may come from somebody else with it: nothing in it is trusted before it is
checked, and only files below the folder that holds it are written.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hvdkit.dataclass import dataclass
from hvdkit.errors import HvdkitError
from hvdkit.files import LARGEST, is_inside, read_file, replace_file

RECORDS = ".hvdkit"
_RECORD = re.compile(r"undo-([0-9]+)\.json")
_KEYS = {"path", "before", "after_sha256"}


class ChangedSince(HvdkitError):
    """A file was edited after hvdkit wrote it, or nothing was written."""


class BrokenRecord(HvdkitError):
    """What is kept as a record is none that hvdkit wrote, or leads out of its folder."""


@dataclass(frozen=True)
class Entry:
    """One file of a record. before: None where it was not there."""

    path: Path
    before: bytes | None
    after_sha256: str


def record(wanted: Mapping[Path, bytes], root: Path) -> Path:
    """Keep what is where the files will be written, all of them below root. Raises: OSError; HvdkitError."""
    folder = _folder(root)
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not os.path.lexists(ignore):
        replace_file(ignore, b"*\n")  # the records are no part of anybody's project
    number = 1 + max(_records(folder), default=0)
    entries = []
    for path, after in wanted.items():
        before = _now(path)
        entries.append(
            {
                "path": os.path.relpath(os.path.realpath(path), os.path.realpath(root)),
                "before": None if before is None else base64.b64encode(before).decode(),
                "after_sha256": hashlib.sha256(after).hexdigest(),
            }
        )
    data = json.dumps(entries, indent=1).encode()
    if len(data) > LARGEST:
        raise HvdkitError(
            f"the record of this write would be {len(data)} bytes, more than the limit of {LARGEST}",
            "nothing was written: it could not be undone",
            "write in parts: pass fewer files or folders at a time",
        )
    made = folder / f"undo-{number}.json"
    replace_file(made, data)
    return made


def undo(root: Path) -> list[Path]:
    """Take back the last write; gives the files.

    Raises: ChangedSince, BrokenRecord with nothing taken back; HvdkitError.
    """
    folder = _folder(root)
    records = _records(folder)
    if not records:
        raise ChangedSince(f"nothing to undo under {root}", "there is no record of a write", "")
    last = records[max(records)]
    restore = [entry for entry in _read(last, root) if _is_as_written(entry, last)]
    for entry in restore:
        try:
            if entry.before is None:
                entry.path.unlink()
            else:
                replace_file(entry.path, entry.before)
        except OSError as error:
            raise HvdkitError(
                f"{entry.path} cannot be restored: {error.strerror}",
                "the record is kept; the files before it are restored",
                "hvdkit migrate --undo again, once it can be written",
            ) from error
    last.unlink()
    return [entry.path for entry in restore]


def _folder(root: Path) -> Path:
    folder = root / RECORDS
    if not is_inside(folder, root):
        raise BrokenRecord(
            f"{folder} is a link to a place outside {root}",
            "its records would belong to a different folder; nothing was written",
            f"rm {folder}",
        )
    return folder


def _records(folder: Path) -> dict[int, Path]:
    """The records by number."""
    found = (_RECORD.fullmatch(path.name) for path in (folder.iterdir() if folder.is_dir() else ()))
    return {int(match[1]): folder / match[0] for match in found if match}


def _now(path: Path) -> bytes | None:
    return read_file(path) if os.path.lexists(path) else None


def _is_as_written(entry: Entry, last: Path) -> bool:
    """Whether a file is what hvdkit made of it, not what it was. Raises: ChangedSince; BrokenRecord."""
    try:
        now = _now(entry.path)
    except OSError as error:
        raise _broken(last, f"{str(entry.path)!r} in it cannot be restored: {error.strerror}") from error
    if now == entry.before:
        return False
    if now is None or hashlib.sha256(now).hexdigest() != entry.after_sha256:
        raise ChangedSince(
            f"{entry.path} was changed after hvdkit wrote it",
            "undoing would lose that change",
            "inspect it with git diff, remove your change, and undo again",
        )
    return True


def _read(last: Path, root: Path) -> list[Entry]:
    try:
        entries = json.loads(read_file(last, follow=False))
    except OSError as error:
        raise _broken(last, f"{error.strerror}") from error
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
        inside = below and is_inside(root / path, root)
        data = None if before is None else base64.b64decode(before, validate=True)
    except ValueError as error:  # a null byte, a character that no file name has, no base64
        raise _broken(last, f"file {number} in it: {error}") from error
    if not inside:
        raise _broken(last, f"it names {path!r}, which is not below {root}")
    return Entry(root / path, data, after)


def _broken(last: Path, seen: str) -> BrokenRecord:
    return BrokenRecord(
        f"{last} is not a record written by hvdkit: {seen}",
        "only files that hvdkit wrote, below the folder of the record, are restored; nothing was written",
        f"rm {last}, and restore the files with git",
    )
