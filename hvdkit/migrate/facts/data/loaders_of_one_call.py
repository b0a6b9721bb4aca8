"""Whether one call in the source makes the loader that is trained on, and others that only evaluate."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.loops import Loop, training_loops
from hvdkit.migrate.facts.data.loaders import Loader
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import COMPREHENSIONS, LOOPS

MAX_CALLERS = 4


def evaluates_too(facts: Facts, loader: Loader) -> bool:
    """Whether a function that makes the loader is called more than once, and one that it made evaluates."""
    return _made_again(facts, loader) and any(
        loader.value in loaders for loaders in _run_over_without_backward(facts)
    )


def _made_again(facts: Facts, loader: Loader) -> bool:
    """Whether one program comes to the construction on several ways."""
    names, node = loader.names, loader.node
    for _ in range(MAX_CALLERS):
        function = names.function(node)
        sites = facts.flow.call_sites(names, function) if function is not None else []
        for program in programs_of(facts):
            if sum(where in program.files for where, _ in sites) > 1:
                return True
        if len(sites) != 1:
            return False
        names, node = sites[0]
    return False


@once
def _run_over_without_backward(facts: Facts) -> list[frozenset[Value]]:
    """The loaders of each loop in which nothing is trained, loops around a training loop left out."""
    loops = training_loops(facts)
    training = {loop.node for path in loops.paths for loop in path.loops}
    found = [
        loops.loaders_of(Loop(names, node))
        for names in facts.files
        for node in names.of_kind(*LOOPS)
        if node not in training and isinstance(node, (ast.For, ast.AsyncFor))
    ]
    drawn = (
        (names, part.iter)
        for names in facts.files
        for node in names.of_kind(*COMPREHENSIONS)
        for part in ast.iter_child_nodes(node)
        if isinstance(part, ast.comprehension)
    )
    return found + [loops.loaders_in(*each) for each in drawn]
