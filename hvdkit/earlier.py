"""Earlier reports: what is in a file that hvdkit wrote, so that a new one may replace it and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hvdkit.files import read_file

# What each report carries, and no other file: the writers put it there, and `is_report` looks for it.
HTML = '<meta name="generator" content="hvdkit">'
TRACE = {"generator": "hvdkit"}
PICTURE = {"Software": "hvdkit"}
SETTINGS = "Written by hvdkit tune"
# Horovod begins its timeline so (common/timeline.cc of 0.28).
_TIMELINE = b'[\n{"name": "process_name", "ph": "M"'
_PNG = b"\x89PNG\r\n\x1a\n"
_HEAD = 1024  # bytes of a file that hold the mark
_ENOUGH = 4  # fields that identify a report whose schema requires none of them


def is_report(path: Path) -> bool:
    """Whether a file is empty, or one that hvdkit wrote as a report."""
    try:
        data = read_file(path)
    except OSError:
        return False
    head = data[:_HEAD]
    if head.startswith(_PNG):
        return b"Software\0hvdkit" in head
    if head.startswith((b"{", b"[")):
        return _is_json_report(data)
    return not data or HTML.encode() in head or head.startswith(f"# {SETTINGS}".encode())


def is_timeline(path: Path) -> bool:
    """Whether a file is empty, or one that Horovod recorded."""
    try:
        data = read_file(path)
    except OSError:
        return False
    return not data or data.startswith(_TIMELINE)


def _is_json_report(data: bytes) -> bool:
    from hvdkit.reference.json_page import schemas

    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return False
    if isinstance(found, dict) and "runs" in found:
        return bool(_at(found, "runs", 0, "tool", "driver", "name") == "hvdkit")
    if isinstance(found, dict) and "traceEvents" in found:
        return found.get("otherData") == TRACE
    return any(_has_fields(found, schema, schema) for schema in schemas().values())


def _at(data: object, *keys: str | int) -> object:
    for key in keys:
        if isinstance(data, dict):
            data = data.get(key)
        elif isinstance(data, list) and isinstance(key, int) and key < len(data):
            data = data[key]
        else:
            return None
    return data


def _has_fields(data: object, schema: dict[str, Any], whole: dict[str, Any]) -> bool:
    """Whether data, or each item of a list, has the fields of a schema and no others.

    whole: the schema with the definitions.
    """
    if "oneOf" in schema:
        names = (each["$ref"].rpartition("/")[2] for each in schema["oneOf"])
        return any(_has_fields(data, whole["$defs"][name], whole) for name in names)
    if schema["type"] == "array":
        items = data if isinstance(data, list) else []
        return bool(items) and all(_has_fields(item, schema["items"], whole) for item in items)
    if not isinstance(data, dict):
        return False
    required = {*schema["required"]}
    return required <= data.keys() <= {*schema["properties"]} and len(data) >= (len(required) or _ENOUGH)
