"""Files of the project that credentials are written in: they stay out of the image."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

from hvdkit.credentials import masked
from hvdkit.docker.requirements import Requirements
from hvdkit.files import is_inside, read_text
from hvdkit.source.project.texts import files_in

# Where a project says what it needs and where from, besides what was read for the image. Programs read none.
_LISTS = (
    *("requirements*", "constraints*", "*.toml", "*.cfg", "*.ini", "*.lock", "Pipfile*", ".gitmodules"),
    *("environment*.y*ml", "conda*.y*ml", "Dockerfile*", "*compose*.y*ml", "Makefile", "tox.ini"),
)


def withheld(context: Path, needed: Requirements) -> tuple[Path, ...]:
    """Those files, absolute. context: the project's folder."""
    listed = {file for file in files_in([context]) if any(fnmatch(file.name, each) for each in _LISTS)}
    # An image gets a link, and not what it leads to outside of the project.
    files = {*(file for file in listed if is_inside(file, context)), *needed.files}
    return tuple(sorted(file for file in files if _holds_credentials(file)))


def _holds_credentials(file: Path) -> bool:
    try:
        text = read_text(file)
    except OSError:  # it cannot be copied either
        return False
    return masked(text) != text
