"""The optimizers that average before each step, by a function that is written into their file."""

from __future__ import annotations

import ast

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names


@dataclass(frozen=True)
class Averaged:
    """A call that makes its optimizers average before each step."""

    names: Names
    node: ast.Call
    optimizers: frozenset[Value]


@once
def averaged_before_steps(facts: Facts) -> list[Averaged]:
    """Every call of such a function, in file order."""
    return [
        Averaged(names, call, facts.flow.unwrap(facts.flow.values(names, call.args[0])))
        for names in facts.files
        for name, calls in names.calls.items()
        if name.startswith(words.AVERAGES)
        for call in calls
        if call.args
    ]
