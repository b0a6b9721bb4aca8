"""The text files that a rank has written, kept as they are when it ends: its folder is gone after the run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

TEXTS = "texts"  # of a record: for each rank a folder with its files, under their names
LARGEST = 1 << 20  # bytes


def keep_texts(record: Path, rank: int, work: Path, names: Iterable[str]) -> None:
    """Copy those that are text, by their names in the work folder."""
    for name in dict.fromkeys(names):
        path = work / name
        if name.startswith("/") or not path.is_file() or path.stat().st_size > LARGEST:
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        kept = record / TEXTS / str(rank) / name
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(text, encoding="utf-8")
