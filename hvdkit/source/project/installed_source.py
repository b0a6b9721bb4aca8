"""The source of what is installed where a command runs, read and never imported."""

from __future__ import annotations

from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

from hvdkit.files import read_text


def installed_source(name: str) -> str:
    """The text of the module that a qualified name is from, "" where it is not installed or has no source."""
    top, *rest = name.split(".")
    spec = PathFinder.find_spec(top)
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return ""
    found = Path(spec.origin)
    for part in rest:
        inner = found.parent / part if found.name == "__init__.py" else None
        files = [] if inner is None else [inner / "__init__.py", inner.with_suffix(".py")]
        module = next((file for file in files if file.is_file()), None)
        if module is None:
            break
        found = module
    return _text(found)


@cache
def _text(path: Path) -> str:
    try:
        return read_text(path)
    except OSError:
        return ""
