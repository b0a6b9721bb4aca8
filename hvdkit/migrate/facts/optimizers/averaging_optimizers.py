"""The optimizers that average gradients, or are to, of all that a project constructs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from hvdkit.migrate.facts.averages.hand_reduction import BY_HOROVOD
from hvdkit.migrate.facts.optimizers.after_backward import after_backward, averaged_passes, reduces_by_hand
from hvdkit.migrate.facts.optimizers.optimizers import Optimizer
from hvdkit.migrate.facts.programs import ProgramFacts

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts


def constructions(facts: Facts) -> list[Optimizer]:
    """One optimizer for each call that constructs some, whoever it is handed out to."""
    return list({optimizer.node: optimizer for optimizer in facts.optimizers}.values())


def left_alone(facts: Facts, every: Iterable[Optimizer]) -> Iterator[Optimizer]:
    """The optimizers, of all, that are not wrapped, since the gradients they get are averages already."""
    every = list(every)
    done = [
        program
        for program in facts.programs
        if averaged_passes(facts, program) or _by_hand_alone(facts, program, every)
    ]
    files = after_backward(facts).files.union(*(program.files for program in done))
    return (optimizer for optimizer in every if optimizer.names in files)


def _by_hand_alone(facts: Facts, program: ProgramFacts, every: list[Optimizer]) -> bool:
    """Whether a program sends gradients through Horovod's collectives itself, and no optimizer does."""
    mine = (optimizer for optimizer in every if optimizer.names in program.files)
    return reduces_by_hand(facts, program, BY_HOROVOD) and not any(optimizer.wrapped for optimizer in mine)
