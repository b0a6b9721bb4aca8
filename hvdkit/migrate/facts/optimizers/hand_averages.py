"""Gradients that a program sends through collectives itself: they stay so, and nothing averages them again.

What is computed does not have to be understood: the program's own collectives, written with Horovod, compute
what they computed before.
"""

from __future__ import annotations

from hvdkit.migrate.facts.code.loops import backward_calls
from hvdkit.migrate.facts.code.unused import unused
from hvdkit.migrate.facts.collectives.collectives import collectives, reduction
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.models.gradient_collectives import hand_reductions
from hvdkit.migrate.facts.models.optimizers import every_optimizer
from hvdkit.migrate.facts.models.wraps import find_wraps
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_of, programs_with
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.values import vocabulary as words


@once
def hand_averages(facts: Facts) -> list[Site]:
    """The collectives that are given gradients, in the files of programs that train."""
    training = {names for names, _ in backward_calls(facts)}
    seen = {names for program in programs_of(facts) if training & program.files for names in program.files}
    return [
        site
        for site in hand_reductions(facts)
        if not (site.names in seen and unused(facts, site.names, site.node))
    ]


def averages_nothing_else(facts: Facts, site: Site) -> bool:
    """Whether no optimizer of the programs that run a collective would average the same gradients again.

    An optimizer that the program makes by a name, or that a library makes, is not wrapped.
    """
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
