"""The arguments of a call, as values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.job.columns import Value


class Arguments:
    """positional and named: as given. more: whether others may follow that are not known (`*args`).

    nodes: the expressions of the positional ones, where the call itself is known: a call that works in place
    writes there.
    """

    def __init__(
        self,
        positional: list[Value],
        named: dict[str, Value] | None = None,
        more: bool = False,
        nodes: list[ast.expr] | None = None,
    ) -> None:
        self.positional = positional
        self.named = named or {}
        self.more = more
        self.nodes = nodes or []

    def get(self, place: int, name: str = "") -> Value | None:
        """The argument at a place, or by its name; place -1: by its name alone."""
        if name and name in self.named:
            return self.named[name]
        return self.positional[place] if 0 <= place < len(self.positional) else None

    def behind(self, *first: Value) -> Arguments:
        """The same, with others in front."""
        return Arguments([*first, *self.positional], self.named, self.more)

    def __iter__(self) -> Iterator[Value]:
        yield from self.positional
        yield from self.named.values()
