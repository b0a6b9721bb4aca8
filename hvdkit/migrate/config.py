"""Defaults of a command from [tool.hvdkit.migrate] or .check in the nearest pyproject.toml above a path."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from hvdkit.errors import HvdkitError
from hvdkit.migrate.facts import Options

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KEYS: dict[str, type] = {"target": str, "suggested": bool, "select": list, "ignore": list}
TARGETS = ("horovod", "hvdkit")


class BadConfig(HvdkitError):
    """The table in pyproject.toml cannot be used."""


def configured(start: Path, command: str = "migrate") -> Options:
    """The options of the project that holds a path; hvdkit's own defaults where it says nothing."""
    folder = start if start.is_dir() else start.parent
    for candidate in (folder, *folder.parents):
        file = candidate / "pyproject.toml"
        if file.is_file():
            return _options(file, command)
    return Options()


def _options(file: Path, command: str) -> Options:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadConfig(
            f"{file} cannot be read: {error}", f"its [tool.hvdkit.{command}] may matter"
        ) from error
    section: dict[str, Any] = table.get("tool", {}).get("hvdkit", {}).get(command, {})
    keys = [key for key in KEYS if command == "migrate" or key != "target"]
    for key, value in section.items():
        if key not in keys:
            raise BadConfig(
                f"{file}: tool.hvdkit.{command} has no key {key!r}", "", f"one of {', '.join(keys)}"
            )
        if not isinstance(value, KEYS[key]):
            raise BadConfig(f"{file}: tool.hvdkit.{command}.{key} = {value!r}", "", f"a {KEYS[key].__name__}")
    if section.get("target", "horovod") not in TARGETS:
        raise BadConfig(f"{file}: target = {section['target']!r}", "", f"one of {', '.join(TARGETS)}")
    lists = {key: tuple(value) for key, value in section.items() if isinstance(value, list)}
    return replace(Options(), **{**section, **lists})
