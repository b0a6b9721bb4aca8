"""Projects that tests write: files by name under a folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def write_files(folder: Path, files: Iterable[tuple[str, str]]) -> None:
    """Write texts under a folder, with the folders that their names ask for."""
    for name, text in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
