"""The places where a model is wrapped in DDP or DataParallel."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.flow import Value
from hvdkit.migrate.names import Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts


@dataclass(frozen=True)
class Wrap:
    """One wrapping call: the wrapper's name, the expression wrapped, and what that may be, unwrapped."""

    names: Names
    node: ast.Call
    name: str
    inner: ast.expr | None
    models: frozenset[Value]

    @property
    def value(self) -> Value:
        """The wrapped model as a value."""
        return Value("made", self.name, self.node, self.names)


def find_wraps(facts: Facts) -> Iterator[Wrap]:
    """Every DDP, apex DDP and DataParallel call."""
    for site in facts.calls(*words.WRAPS):
        call = site.node
        inner = (
            call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "module"), None)
        )
        models = facts.flow.unwrap(facts.flow.values(site.names, inner))
        yield Wrap(site.names, call, site.name, inner, models)
