"""The files that name TensorFlow, and the calls in them that run a function."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.source.index.names import FunctionNode, Names


@once
def tensorflow_files(facts: Facts) -> tuple[Names, ...]:
    """The files that name TensorFlow or Keras."""
    return tuple(
        names for names in facts.files if "tensorflow" in names.source.text or "keras" in names.source.text
    )


def tensorflow_callers(facts: Facts, names: Names, function: FunctionNode) -> list[tuple[Names, ast.Call]]:
    """Calls that run a function, `strategy.run(function, ...)` among them."""
    found = list(facts.flow.call_sites(names, function))
    for where in tensorflow_files(facts):
        for method in ("run", "experimental_run_v2"):
            for call in where.calls.get(method, ()):
                first = call.args[0] if call.args else None
                if first is not None and any(
                    value.node is function for value in facts.flow.values(where, first)
                ):
                    found.append((where, call))
    return found
