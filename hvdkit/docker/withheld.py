"""Files of the project that credentials are written in: they stay out of the image."""

from __future__ import annotations

from pathlib import Path

from hvdkit.credentials import masked
from hvdkit.docker.requirements import Requirements
from hvdkit.files import read_file

# Where a project says what it needs and where from, besides what was read for the image.
_LISTS = ("requirements*", "*.toml", "*.cfg", "*.lock", "environment*.yml", "environment*.yaml", "Pipfile")


def withheld(context: Path, needed: Requirements) -> tuple[Path, ...]:
    """Those files, absolute. context: the project's folder."""
    listed = {file for pattern in _LISTS for file in context.glob(pattern) if file.is_file()}
    files = {*listed, *(file for file in needed.files if file.is_relative_to(context))}
    return tuple(sorted(file for file in files if _holds_credentials(file)))


def _holds_credentials(file: Path) -> bool:
    try:
        text = read_file(file).decode("utf-8", errors="replace")
    except OSError:  # it cannot be copied either
        return False
    return masked(text) != text
