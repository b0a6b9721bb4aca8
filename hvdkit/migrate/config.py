"""What a command was asked: its flags, else [tool.hvdkit.migrate] or .check of the nearest pyproject.toml."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hvdkit.arguments import nearest
from hvdkit.errors import HvdkitError
from hvdkit.files import read_file
from hvdkit.migrate.catalog.rule_files import TO_DDP
from hvdkit.migrate.catalog.selection import rules_named
from hvdkit.migrate.facts import Options
from hvdkit.migrate.options import DDP
from hvdkit.source.project.installed_keras import installed_keras

KEYS: dict[str, type] = {"target": str, "suggested": bool, "select": list, "ignore": list}
OF_CHECK: dict[str, type] = {"exclude": list, "per-file-ignores": dict}
_IDS = 'ids of rules: ["HVD201", "HVD3"]'
_FILES = 'patterns of files: ["vendor", "*_pb2.py"]'
COMMANDS = ("migrate", "check")
TARGETS = ("horovod", "hvdkit", DDP)


class BadConfig(HvdkitError):
    """The table in pyproject.toml cannot be used."""


def chosen(args: argparse.Namespace, start: Path, command: str) -> Options:
    """pyproject.toml's options, each overridden by its flag, and the Keras that is installed.

    start: the first path that was given.

    Raises: BadConfig; UnknownRule.
    """
    base = configured(start, command)
    asked = getattr(args, "target", None) or base.keras_3_target  # "" where nobody asks for one
    target = asked or base.target
    command = TO_DDP if target == DDP else command
    return replace(
        base,
        target=target,
        suggested=base.suggested if args.suggested is None else args.suggested,
        select=rules_named(args.select, command, "--select") or base.select,
        ignore=rules_named(args.ignore, command, "--ignore") or base.ignore,
        keras=installed_keras(),
        keras_3_target=asked or "hvdkit",
        why=getattr(args, "why", ""),
    )


def configured(start: Path, command: str = "migrate") -> Options:
    """The options of the project that holds a path; hvdkit's own defaults where it says nothing."""
    folder = start if start.is_dir() else start.parent
    for candidate in (folder, *folder.parents):
        file = candidate / "pyproject.toml"
        if file.is_file():
            return _options(file, command)
    return Options()


def _options(file: Path, command: str) -> Options:
    from hvdkit.toml import NotToml, parse_toml  # slow to import, and most folders have no such file

    try:
        table = parse_toml(read_file(file))
    except (OSError, NotToml) as error:
        raise BadConfig(
            f"{file} cannot be read: {error}", f"its [tool.hvdkit.{command}] settings may apply"
        ) from error
    commands = _table(file, _table(file, table, "tool"), "hvdkit", "tool.")
    _check_keys(file, commands, COMMANDS, "tool.hvdkit")
    section = _table(file, commands, command, "tool.hvdkit.")
    name = f"tool.hvdkit.{command}"
    known = KEYS if command == "migrate" else {**KEYS, **OF_CHECK}
    _check_keys(file, section, [key for key in known if command == "migrate" or key != "target"], name)
    for key, value in section.items():
        if not isinstance(value, known[key]):
            raise BadConfig(f"{file}: {name}.{key} = {value!r}", "", f"a {known[key].__name__}")
        if isinstance(value, list):
            _check_texts(file, f"{name}.{key}", value, _FILES if key == "exclude" else _IDS)
    if section.get("target", "horovod") not in TARGETS:
        raise BadConfig(f"{file}: target = {section['target']!r}", "", f"one of {', '.join(TARGETS)}")
    ignores: dict[str, Any] = section.pop("per-file-ignores", {})
    exclude = tuple(section.pop("exclude", ()))
    lists = {
        key: rules_named(value, command, f"{file}: {name}.{key}")
        for key, value in section.items()
        if isinstance(value, list)
    }
    for pattern, ids in ignores.items():
        _check_texts(file, f"{name}.per-file-ignores.{pattern!r}", ids, _IDS)
    named = tuple(
        (pattern, rules_named(ids, command, f"{file}: {name}.per-file-ignores.{pattern!r}"))
        for pattern, ids in ignores.items()
    )
    base = Options(
        keras_3_target=section.get("target", ""), exclude=exclude, per_file_ignores=named, root=file.parent
    )
    return replace(base, **{**section, **lists})


def _check_texts(file: Path, name: str, value: object, example: str) -> None:
    if not isinstance(value, list) or not all(isinstance(entry, str) and entry.strip() for entry in value):
        raise BadConfig(f"{file}: {name} = {value!r}", "", example)


def _table(file: Path, table: dict[str, Any], key: str, above: str = "") -> dict[str, Any]:
    found = table.get(key, {})
    if not isinstance(found, dict):
        raise BadConfig(f"{file}: {above}{key} = {found!r}", "", f"a table: [{above}{key}]")
    return found


def _check_keys(file: Path, table: dict[str, Any], known: Sequence[str], name: str) -> None:
    for key in table:
        if key not in known:
            near = nearest(key, known)
            raise BadConfig(
                f"{file}: {name} has no key {key!r}",
                "the setting would be ignored",
                f"did you mean {near}?" if near else f"one of {', '.join(known)}",
            )
