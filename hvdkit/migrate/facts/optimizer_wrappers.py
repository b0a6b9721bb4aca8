"""Objects of libraries that are put around an optimizer and step it: apex LARC, Lookahead."""

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
class Around:
    """One construction of such an object.

    inner: the argument that is the optimizer, one of `optimizers`. looks: whether its step() looks at the
    gradients before the inner one steps.
    """

    names: Names
    node: ast.Call
    inner: ast.expr
    optimizers: frozenset[Value]
    looks: bool


def find_around(facts: Facts) -> Iterator[Around]:
    """Every object of these kinds around an optimizer that the project constructs."""
    known = {optimizer.value for optimizer in facts.optimizers}
    for site in facts.calls(*words.GRADIENT_WRAPPERS, *words.WEIGHT_WRAPPERS):
        for given in (*site.node.args, *(keyword.value for keyword in site.node.keywords)):
            mine = facts.flow.unwrap(facts.flow.values(site.names, given)) & known
            if mine:
                yield Around(site.names, site.node, given, mine, site.name in words.GRADIENT_WRAPPERS)
