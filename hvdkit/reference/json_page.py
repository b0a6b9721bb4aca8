"""docs/json.md: what `--json` prints, made from the JSON Schemas by `scripts/docs`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Schema = dict[str, Any]
FOLDER = Path(__file__).parent / "schemas"
URN = "urn:hvdkit:"
HEAD = f"""\
# What --json prints

Made from the schemas by `scripts/docs`. Each is a JSON Schema (2020-12) in `hvdkit/reference/schemas`,
which the wheel contains; tests hold the commands to them. Where one refers to another, as
`{URN}plan#/$defs/finding`, the name is the file's. Fields may be added; a field that changes its meaning
changes the number `schema`.

Every report has the same form. `--json` writes it to standard output, which has nothing else then, and
`--json=FILE` to a file; so do `--sarif`, `--html`, `--perfetto` and `--png`. The option never takes the next
word. A file that the command reads, and a source file (by its name or its `#!`), are never replaced. Other
files are replaced only if they are earlier reports of hvdkit, or with `--force`. A report has the permissions
that umask leaves, and none that its source does not have.
"""


def schemas() -> dict[str, Schema]:
    """All schemas by name: "plan" for urn:hvdkit:plan."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}


def page() -> str:
    """The page in Markdown."""
    return "\n".join(
        [HEAD, *(part for name, schema in schemas().items() for part in _sections(name, schema))]
    )


def _sections(name: str, schema: Schema) -> Iterator[str]:
    yield f"## {schema['title']}\n\n{schema['description']} Schema: `{name}.json`.\n"
    if "oneOf" in schema:
        either = " or ".join(_link(each["$ref"]) for each in schema["oneOf"])
        yield f"It is {either}.\n"
    else:
        yield _table(schema)
    for part, inner in schema.get("$defs", {}).items():
        yield f"### {part}\n\n{inner['description'].capitalize()}.\n\n{_table(inner)}"


def _table(schema: Schema) -> str:
    rows = "".join(f"| `{name}` | {kind} | {what} |\n" for name, kind, what in _fields(schema, ""))
    return f"| field | type | meaning |\n|---|---|---|\n{rows}"


def _fields(schema: Schema, prefix: str) -> Iterator[tuple[str, str, str]]:
    """(path, type, meaning) of each field, those of objects and of the items of lists included."""
    if schema.get("type") == "array":
        yield from _fields(schema["items"] or {}, f"{prefix}[]")
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        path = f"{prefix}.{name}" if prefix else name
        missing = "" if name in required else "; may be missing"
        yield path, _kind(field), field["description"].replace("|", "\\|") + missing
        yield from _fields(field, path)


def _kind(field: Schema) -> str:
    if "$ref" in field:
        return _link(field["$ref"])
    if "anyOf" in field:
        return " or ".join(map(_kind, field["anyOf"]))
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if field["type"] == "array":
        return f"list of {_kind(field['items'])}" if field.get("items") else "list"
    kind = field["type"]
    return kind if isinstance(kind, str) else " or ".join(kind)


def _link(reference: str) -> str:
    name = reference.rpartition("/")[2]
    return f"[{name}](#{name})"
