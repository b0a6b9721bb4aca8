"""Images of PIL's, whose method save() writes a file."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.files.vocabulary import IMAGES
from hvdkit.migrate.values.value import Value

MAX_METHODS = 6  # one after the other


def is_image(facts: Facts, value: Value) -> bool:
    """Whether a value is an image of PIL's: what its module made, or a method of such an image."""
    for _ in range(MAX_METHODS):
        if value.kind != "made":
            return False
        if value.name.startswith(IMAGES):
            return True
        made = value.node
        if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute):
            return False
        receivers = facts.flow.values(value.names, made.func.value)
        if len(receivers) != 1:
            return False
        (value,) = receivers
    return False
