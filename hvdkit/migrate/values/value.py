"""One thing that an expression may be."""

from __future__ import annotations

import ast
from typing import NamedTuple

from hvdkit.source.index.names import Names


class Value(NamedTuple):
    """One thing that an expression may be. Nodes are compared by identity.

    kind: "name" (a library's object, by qualified name), "made" (what a call of `name` gave),
    "function", "class", "module" (the project's own), "object" (an instance of node, a ClassDef),
    "literal" (a tuple, list, dict or constant in the source), "param" (a parameter no call was found for).
    call: what a function of the project makes, or wraps, for its callers: the call that this one is for.
    """

    kind: str
    name: str
    node: ast.AST
    names: Names
    call: CallSite | None = None

    @property
    def is_none(self) -> bool:
        return isinstance(self.node, ast.Constant) and self.node.value is None

    @property
    def unknown(self) -> bool:
        """Whether nothing is known of it: a parameter without a call, or what the source does not name."""
        return self.kind == "param" or self.name.startswith("?")


CallSite = tuple[Names, ast.Call]
