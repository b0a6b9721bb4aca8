"""A call's arguments by keyword, those of a dictionary in the source that is passed by ** among them."""

from __future__ import annotations

import ast

from hvdkit.migrate.values.flow import Flow
from hvdkit.source.index.names import Names


def keywords(flow: Flow, names: Names, call: ast.Call) -> dict[str, ast.expr]:
    """A call's arguments by keyword, those of a dictionary in the source passed by ** among them."""
    found: dict[str, ast.expr] = {}
    for keyword in call.keywords:
        if keyword.arg is not None:
            found[keyword.arg] = keyword.value
            continue
        for value in flow.values(names, keyword.value):
            if isinstance(value.node, ast.Dict):
                for key, item in zip(value.node.keys, value.node.values):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        found[key.value] = item
    return found
