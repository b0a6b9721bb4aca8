"""Python environments inside a project's folder: what lies in them is no file of the project's."""

from __future__ import annotations

from functools import cache
from pathlib import Path

PARTS = ("bin", "lib", "lib64", "include", "share")


def is_environment(folder: Path) -> bool:
    """Whether a folder is a virtual environment, or one of conda's."""
    return (folder / "pyvenv.cfg").is_file() or (folder / "conda-meta").is_dir()


@cache
def in_environment(path: Path) -> bool:
    """Whether a file belongs to an environment; a project's own folder may have been made one."""
    around = filter(is_environment, path.parents)
    return any(path.relative_to(folder).parts[0] in PARTS for folder in around)
