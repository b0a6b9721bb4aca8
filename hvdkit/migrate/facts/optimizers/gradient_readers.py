"""Which functions of a project look at gradients."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.gradient_reads import GradientUse
from hvdkit.migrate.facts.once import once
from hvdkit.source.index.names import Names


@once
def gradient_use(facts: Facts) -> GradientUse:
    """What looks at gradients, with the functions that were looked into."""
    return GradientUse(facts)


def names_reader(facts: Facts, names: Names, function: ast.expr) -> bool:
    """Whether a function that an expression names reads, writes or clips gradients."""
    values = facts.flow.values(names, function)
    return any(reads_gradients(facts, v.names, v.node) for v in values if v.kind == "function")


def reads_gradients(facts: Facts, names: Names, function: ast.AST) -> bool:
    """Whether a function's own body reads, writes or clips gradients."""
    body = getattr(function, "body", [])
    parts = body if isinstance(body, list) else [body]
    return any(gradient_use(facts).looked_at(names, part) for part in parts)
