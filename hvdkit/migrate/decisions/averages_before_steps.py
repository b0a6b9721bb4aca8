"""Averages before each step, for what DDP does not average.

Horovod averages what an optimizer holds, however its gradients were computed. A function with this meaning is
written into the file. It sends once the backward pass is done, where DDP sends while it runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.optimizers.horovod_wraps import Wrapped
from hvdkit.migrate.rewrites.ddp_arguments import NotWrapped, arguments_of
from hvdkit.migrate.rewrites.ddp_helpers import in_file
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


def averaging_before_steps(facts: Facts, wrap: Wrapped) -> Iterator[tuple[Names, Edit]]:
    """The edits that replace an optimizer's wrapper by averages before each step. Raises NotWrapped."""
    names, source = wrap.names, wrap.names.source
    arguments = arguments_of(facts, wrap)
    if arguments.helper:
        raise NotWrapped("it sums gradients, and what takes its place averages them")
    if wrap.given is None:
        raise NotWrapped("the optimizer is not given by itself")
    own = names.statement(wrap.node)
    helper, name = in_file(names, words.AVERAGES)
    yield names, helper
    half = f", half={arguments.half}" if arguments.half else ""
    for edit in edits.recast(source, wrap.node, [f"{name}(", wrap.given, f"{half})"], own):
        yield names, edit
    if arguments.stops:
        yield names, edits.before(source, own, arguments.stops)
