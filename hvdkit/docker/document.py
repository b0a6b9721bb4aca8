"""A document as YAML that people go on editing: lists of plain values on one line, no references."""

from __future__ import annotations

from typing import Any

import yaml


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        """What is used twice is written twice."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Lists stand deeper than what they belong to."""
        super().increase_indent(flow, False)


def _list(dumper: _Dumper, data: list[Any]) -> yaml.Node:
    """A list: on one line if it holds nothing but plain values."""
    plain = not any(isinstance(item, (dict, list)) for item in data)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=plain)


_Dumper.add_representer(list, _list)


def as_yaml(document: dict[str, Any]) -> str:
    """The document's text, keys in their order."""
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=110)
    return text
