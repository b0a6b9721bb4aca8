"""The place above a loop over batches, in whatever function: it runs once an epoch, and names the loader."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.loops import Loop, Path, training_loops
from hvdkit.migrate.facts.data.epochs import epoch_number
from hvdkit.migrate.facts.data.loaders import Loader
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.values.arguments import parameters, passed
from hvdkit.source.index.names import FUNCTIONS


@dataclass(frozen=True)
class BeforeBatches:
    """A loop over batches. loader: as the loop names it. number: of the epoch, as it is named there."""

    loop: Loop
    loader: str
    number: str | None


def before_batches(facts: Facts, loader: Loader, epoch: Loop) -> BeforeBatches | None:
    """The loop that draws a loader's batches in each epoch, where there is one and no loop in between."""
    found = {
        path.loops[path.batch]: path
        for path in training_loops(facts).paths
        if loader.value in path.loaders and path.epoch == epoch
    }
    if len(found) != 1:
        return None
    ((loop, path),) = found.items()
    if path.loops.index(epoch) != path.batch + 1 or isinstance(loop.node, ast.While):
        return None
    name = next(_named(facts, loader, loop), None)
    return None if name is None else BeforeBatches(loop, name, _number(facts, path, loop, epoch))


def _named(facts: Facts, loader: Loader, loop: Loop) -> Iterator[str]:
    """What a loop runs over, as it is written there: a variable, an attribute or an entry of a dictionary."""
    for part in ast.walk(loop.node.iter if not isinstance(loop.node, ast.While) else loop.node.test):
        entry = isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant)
        if entry or isinstance(part, (ast.Name, ast.Attribute)):
            if facts.flow.values(loop.names, part) == {loader.value}:
                yield loop.names.source.segment(part)


def _number(facts: Facts, path: Path, loop: Loop, epoch: Loop) -> str | None:
    """The epoch's number where the batches are drawn: the loop's own, or the parameter that it becomes."""
    number = epoch_number(facts, epoch)
    function = loop.names.function(loop.node)
    if loop.names is epoch.names and function is epoch.names.function(epoch.node):
        return number
    if number is None or not isinstance(function, FUNCTIONS) or isinstance(function, ast.Lambda):
        return None
    for where, call in path.calls:
        runs = any(called is function for _, called in facts.flow.functions(where, call))
        if runs and where is epoch.names and epoch.node in where.ancestors(call):
            for parameter in sorted(parameters(function)):
                given = passed(loop.names, function, where, call, parameter)
                if given is not None and where.source.segment(given) == number:
                    bound = loop.names.scope(loop.node).names.get(parameter, ())
                    return parameter if len(bound) == 1 else None
    return None
