"""Writing a plan: the gate, the undo record first, then each file atomically. And taking it back."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hvdkit.errors import HvdkitError
from hvdkit.migrate.plan import FilePlan

RECORDS = ".hvdkit"


class DirtyTree(HvdkitError):
    """The tree has uncommitted changes, so that a person could not tell them from hvdkit's."""


class NoVersionControl(HvdkitError):
    """The files are under no version control."""


class ChangedSince(HvdkitError):
    """A file was edited after hvdkit wrote it, or nothing was written."""


def root_of(paths: Sequence[Path]) -> Path:
    """The version-controlled folder that holds the paths, else their common folder."""
    first = paths[0].resolve()
    common = Path(os.path.commonpath([p.resolve() for p in paths])) if len(paths) > 1 else first
    folder = common if common.is_dir() else common.parent
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
                "the diff could not be looked at or taken back with git",
                "git init, git add and git commit it, or add --allow-no-vcs (--undo works either way)",
            )
        return
    if allow_dirty:
        return
    command = ["git", "-C", str(root), "status", "--porcelain"]
    status = subprocess.run(command, capture_output=True, text=True, check=False)
    if status.returncode != 0:
        raise NoVersionControl(
            f"git status failed in {root}: {status.stderr.strip()}", "", "add --allow-dirty"
        )
    if status.stdout.strip():
        count = len(status.stdout.splitlines())
        raise DirtyTree(
            f"{root} has {count} uncommitted change(s)",
            "hvdkit's edits would be mixed with yours",
            "git commit or git stash them, or add --allow-dirty",
        )


@dataclass(frozen=True)
class Written:
    """What one write did."""

    files: tuple[Path, ...]
    record: Path


def write(files: Sequence[FilePlan], root: Path) -> Written:
    """Replace each changed file, after a record from which `undo` restores every byte."""
    changed = [file for file in files if file.changed]
    record = _record(changed, root)
    for file in changed:
        replace_file(file.path, file.after.encode(file.encoding))
    return Written(tuple(file.path for file in changed), record)


def replace_file(path: Path, data: bytes) -> None:
    """Write beside the file and rename over it: at any moment it is the old one or the new one."""
    target = path.resolve()  # a symbolic link stays a link
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            Path(temporary).chmod(target.stat().st_mode & 0o7777)
        else:
            Path(temporary).chmod(0o644)
        Path(temporary).replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise


def _record(changed: Sequence[FilePlan], root: Path) -> Path:
    folder = root / RECORDS
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")  # the records are no part of anybody's project
    number = 1 + max((int(path.stem.rpartition("-")[2]) for path in _records(root)), default=0)
    entries = [
        {
            "path": os.path.relpath(file.path.resolve(), root),
            "before": base64.b64encode(file.before.encode(file.encoding)).decode(),
            "after_sha256": hashlib.sha256(file.after.encode(file.encoding)).hexdigest(),
        }
        for file in changed
    ]
    record = folder / f"undo-{number}.json"
    replace_file(record, json.dumps(entries, indent=1).encode())
    return record


def _records(root: Path) -> list[Path]:
    return sorted((root / RECORDS).glob("undo-*.json"), key=lambda path: int(path.stem.rpartition("-")[2]))


def undo(root: Path) -> list[Path]:
    """Restore what the last write changed. Raises ChangedSince, with nothing restored, if it cannot."""
    records = _records(root)
    if not records:
        raise ChangedSince(f"nothing to undo under {root}", "no record of a write is there", "")
    record = records[-1]
    restore: list[tuple[Path, bytes]] = []
    for entry in json.loads(record.read_text(encoding="utf-8")):
        path = root / entry["path"]
        before = base64.b64decode(entry["before"])
        now = path.read_bytes() if path.exists() else b""
        if now == before:
            continue
        if hashlib.sha256(now).hexdigest() != entry["after_sha256"]:
            raise ChangedSince(
                f"{path} was changed after hvdkit wrote it",
                "undoing would lose that change",
                "git diff it, take your change out, and undo again",
            )
        restore.append((path, before))
    for path, before in restore:
        replace_file(path, before)
    record.unlink()
    return [path for path, _ in restore]
