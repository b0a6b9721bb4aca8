"""Which expressions are optimizers of Keras."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.model_calls import is_model
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names


def is_optimizer(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether an expression is known to be an optimizer of Keras: made by its classes, or by compile."""
    values = facts.flow.values(names, node)
    if any(_is_keras(facts, value) for value in values):
        return True
    compiled = isinstance(node, ast.Attribute) and node.attr == "optimizer"
    holders = facts.flow.values(names, node.value) if isinstance(node, ast.Attribute) else frozenset()
    return compiled and any(is_model(facts, holder) for holder in holders)


def _is_keras(facts: Facts, value: Value) -> bool:
    if value.kind == "made":
        return value.name.startswith(words.KERAS_OPTIMIZERS)
    bases = facts.flow.bases(value) if value.kind == "object" else ()
    return any(base.startswith(words.KERAS_OPTIMIZERS) for base in bases)
