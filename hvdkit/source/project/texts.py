"""The files of a project that are not only sources: shell scripts, Makefiles, Dockerfiles, READMEs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

NOT_SOURCE = {
    ".git",
    ".ipynb_checkpoints",
    ".hg",
    ".svn",
    ".venv",
    "venv",
    "node_modules",
    "__pycache__",
    ".tox",
    ".nox",
    ".hvdkit",
}


def files_in(paths: Iterable[Path]) -> Iterator[Path]:
    """Each file below the folders, and beside the files, that are given, without virtual environments."""
    seen: set[Path] = set()
    for path in paths:
        for file in _below(path) if path.is_dir() else files_of(path.parent):
            if file not in seen:
                seen.add(file)
                yield file


def files_of(folder: Path) -> list[Path]:
    """The files that lie in a folder, sorted."""
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name) if folder.is_dir() else []
    return [folder / entry.name for entry in entries if entry.is_file()]


def _below(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            # Not Path.exists(): it raises where a path is too long.
            if name not in NOT_SOURCE and not os.path.exists(Path(root, name, "pyvenv.cfg"))  # noqa: PTH110
        )
        yield from (Path(root, name) for name in sorted(files))
