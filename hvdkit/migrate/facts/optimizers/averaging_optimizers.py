"""The optimizers that average gradients, or are to, of all that a project constructs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.gradient_collectives import BY_HOROVOD
from hvdkit.migrate.facts.models.optimizers import Optimizer, every_optimizer
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.after_backward import after_backward, averaged_passes, reduces_by_hand
from hvdkit.migrate.facts.programs.programs import ProgramFacts, migrates, programs_of, programs_with
from hvdkit.migrate.facts.programs.reached_code import runs_in


def constructions(facts: Facts) -> list[Optimizer]:
    """One optimizer for each call that constructs some, whoever it is handed out to."""
    return list({optimizer.node: optimizer for optimizer in averaging_optimizers(facts)}.values())


def left_alone(facts: Facts, every: Iterable[Optimizer]) -> Iterator[Optimizer]:
    """The optimizers, of all, that are not wrapped, since the gradients they get are averages already."""
    every = list(every)
    done = [
        program
        for program in programs_of(facts)
        if averaged_passes(facts, program) or _by_hand_alone(facts, program, every)
    ]
    files = after_backward(facts).files.union(*(program.files for program in done))
    return (optimizer for optimizer in every if optimizer.names in files)


def _by_hand_alone(facts: Facts, program: ProgramFacts, every: list[Optimizer]) -> bool:
    """Whether a program sends gradients through Horovod's collectives itself, and no optimizer does."""
    mine = (optimizer for optimizer in every if optimizer.names in program.files)
    return reduces_by_hand(facts, program, BY_HOROVOD) and not any(optimizer.wrapped for optimizer in mine)


@once
def averaging_optimizers(facts: Facts) -> list[Optimizer]:
    """The optimizers that average gradients, or are to: not those that get averages, or never step."""
    given = list(left_alone(facts, every_optimizer(facts)))
    return [
        optimizer
        for optimizer in every_optimizer(facts)
        if optimizer not in given and not _only_shown(facts, optimizer)
    ]


def _only_shown(facts: Facts, optimizer: Optimizer) -> bool:
    """Whether a file of a training makes it only where it is run itself, and trains nothing: a demo."""
    if not migrates(facts, optimizer.names):
        return False
    runs = [
        program
        for program in programs_with(facts, optimizer.names)
        if runs_in(facts, program, optimizer.names, optimizer.node)
    ]
    return bool(runs) and all(program.kind == "none" for program in runs)
