"""Where a module is moved to a device or type, which replaces what hooks of its parameters hang on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.optimizers import Optimizer
from hvdkit.migrate.index.names import Names

# Methods of torch.nn.Module that move it: https://pytorch.org/docs/stable/generated/torch.nn.Module.html
MOVES = ("cuda", "to", "double", "half", "float", "bfloat16", "xpu", "ipu", "type", "to_empty")


def moves_of(facts: Facts, optimizer: Optimizer) -> Iterator[tuple[Names, ast.Call]]:
    """The calls that move a module whose parameters an optimizer trains: `model.cuda()`."""
    trained = {
        value
        for where, root in optimizer.roots
        for value in facts.flow.unwrap(facts.flow.values(where, root))
        if not value.unknown
    }
    for name in MOVES:
        for names, call, receiver in facts.methods(name) if trained else ():
            if facts.flow.unwrap(facts.flow.values(names, receiver)) & trained:
                yield names, call
