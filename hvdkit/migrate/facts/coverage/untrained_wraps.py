"""The models that DDP wraps, and no optimizer that is known trains."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.facts.coverage.trained_wraps import trained_wraps
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.wraps import Wrap
from hvdkit.migrate.facts.optimizers.after_backward import after_backward, uses_gradients
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.before_steps import before_steps
from hvdkit.migrate.facts.optimizers.unknown_steps import unknown_steps
from hvdkit.migrate.facts.programs.programs import ProgramFacts


def without_optimizers(facts: Facts) -> Iterator[tuple[ProgramFacts, Wrap]]:
    """The models that DDP wraps, and something trains that is not known."""
    for program, wrap, optimizers in trained_wraps(facts):
        if before_steps(facts, program).averages:
            continue  # one average for each step does it (HVD417)
        if not optimizers and wrap.node not in after_backward(facts).wraps and uses_gradients(facts, program):
            # A model that is wrapped and never trained, such as a teacher, has nobody who would train it.
            mine = any(optimizer.names in program.files for optimizer in averaging_optimizers(facts))
            if not mine or unknown_steps(facts, program, averaging_optimizers(facts)):
                yield program, wrap
