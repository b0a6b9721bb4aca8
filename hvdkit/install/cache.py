"""Built wheels, one folder per key, and the logs of builds.

An entry is complete or absent: it is made beside its place and moved there in one step. An entry whose
wheel is not the one that was put there is never used.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_RECORD = "build.json"


@dataclass(frozen=True)
class Entry:
    """A wheel in the cache; sha256 is that of the wheel file."""

    wheel: Path
    sha256: str


def root(environment: Mapping[str, str]) -> Path:
    """$HVDKIT_CACHE, else $XDG_CACHE_HOME/hvdkit, else ~/.cache/hvdkit."""
    if environment.get("HVDKIT_CACHE"):
        return Path(environment["HVDKIT_CACHE"]).expanduser().resolve()
    base = environment.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "hvdkit"


def log_path(cache: Path, key: str) -> Path:
    """Where the output of the build of `key` is written."""
    return cache / "logs" / f"{key}.log"


def find(cache: Path, key: str) -> Entry | None:
    """The entry of `key`, or None if there is none or it is damaged (see `damage`)."""
    folder = cache / "wheels" / key
    if not folder.is_dir() or damage(cache, key):
        return None
    record = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
    return Entry(folder / record["wheel"], record["sha256"])


def damage(cache: Path, key: str) -> str:
    """What is wrong with the entry of `key`; empty for a sound or absent one."""
    folder = cache / "wheels" / key
    if not folder.is_dir():
        return ""
    try:
        record = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
        wheel, expected = folder / record["wheel"], record["sha256"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"{folder / _RECORD}: {error}"
    if not wheel.is_file():
        return f"{wheel} is missing"
    return "" if digest(wheel) == expected else f"{wheel} is not the file that was built"


def put(cache: Path, key: str, wheel: Path, ingredients: dict[str, object]) -> Entry:
    """Copy `wheel` into the cache with what it was made of, replacing an older entry of `key`."""
    target = cache / "wheels" / key
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{key}-", dir=target.parent) as scratch:
        fresh = Path(scratch) / "new"
        fresh.mkdir()
        copy = Path(shutil.copy2(wheel, fresh))
        record = {"wheel": copy.name, "sha256": digest(copy), "ingredients": ingredients}
        (fresh / _RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        if target.is_dir():
            target.rename(Path(scratch) / "old")
        try:
            fresh.rename(target)
        except OSError:
            # Another process made the same entry in the meantime (nodes that share a home): theirs will do.
            if not target.is_dir():
                raise
    entry = find(cache, key)
    assert entry is not None, f"{target} was corrupted while it was written"
    return entry


def drop(cache: Path, key: str) -> None:
    """Remove the entry of `key`, if there is one; its log stays."""
    shutil.rmtree(cache / "wheels" / key, ignore_errors=True)


def copy_wheel(entry: Entry, folder: Path) -> Path:
    """Leave the wheel in `folder`, complete or not at all; returns its path there."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / entry.wheel.name
    part = folder / f".{entry.wheel.name}.{os.getpid()}"
    try:
        shutil.copy2(entry.wheel, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target


def digest(file: Path) -> str:
    """SHA-256 of the file, in hexadecimal."""
    sha = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            sha.update(block)
    return sha.hexdigest()
