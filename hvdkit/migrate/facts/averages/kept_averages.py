"""Averages by hand that may stay as they are: no optimizer of the program averages the same gradients again.

An optimizer that the program makes by a name, or that a library makes, is not wrapped. Where the program has
no other, its own all_reduce, written with Horovod, computes what it computed before, whatever that is.
"""

from __future__ import annotations

from hvdkit.migrate.facts.collectives.collectives import collectives, reduction
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.models.optimizers import every_optimizer
from hvdkit.migrate.facts.models.wraps import find_wraps
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_with
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.values import vocabulary as words


def stays(facts: Facts, site: Site) -> bool:
    """Whether a collective that is given gradients is only to be written with Horovod."""
    mine = [
        program
        for program in programs_with(facts, site.names)
        if runs_in(facts, program, site.names, site.node)
    ]
    known = [call for call in collectives(facts, "all_reduce") if call.node is site.node]
    written = any(not call.problem and reduction(facts, site.names, call.given.get("op")) for call in known)
    rule = facts.options.allows("HVD501")
    return rule and written and bool(mine) and not any(_averages(facts, program) for program in mine)


def _averages(facts: Facts, program: ProgramFacts) -> bool:
    """Whether the optimizers of a program are wrapped, or its models are."""
    optimizers = any(optimizer.names in program.files for optimizer in every_optimizer(facts))
    wraps = any(wrap.names in program.files and wrap.name in words.WRAPS for wrap in find_wraps(facts))
    return optimizers or wraps or program.kind != "ddp"
