"""Models that a program steps by hand, beside others that its optimizers step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.wraps import Wrap
from hvdkit.migrate.facts.models.written_models import NotShown
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.hand_steps import MODEL, stepped_models, steps_by_hand
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_of
from hvdkit.migrate.index.names import Names


def stepped_by_hand_too(facts: Facts) -> Iterator[tuple[ProgramFacts, Names, ast.stmt]]:
    """Steps by hand of models that no optimizer has, in programs of one process that have optimizers, too.

    Horovod's would average none of their gradients.
    """
    for program in programs_of(facts) if averaging_optimizers(facts) else ():
        mine = [each for each in averaging_optimizers(facts) if each.names in program.files]
        trained = frozenset().union(*(optimizer.models for optimizer in mine))
        held = {names.source.segment(root) for optimizer in mine for names, root in optimizer.roots}
        for names, statement in steps_by_hand(facts, program) if mine and program.kind == "single" else ():
            try:
                wraps = [wrap for wrap in stepped_models(facts, names, statement) if wrap.name == MODEL]
            except NotShown:
                continue  # what a batch is changed by, to deceive a model
            if any(not wrap.models & trained and not _is_part(wrap, held) for wrap in wraps):
                yield program, names, statement


def _is_part(wrap: Wrap, held: set[str]) -> bool:
    """Whether a model is a part of one that an optimizer has: `net.head` of `net`."""
    text = wrap.names.source.segment(wrap.inner) if wrap.inner is not None else ""
    return any(text.startswith(f"{whole}.") for whole in held)
