"""The post-conditions of a program that came back from Horovod to DDP, shown from its rewritten text."""

from __future__ import annotations

from pathlib import Path

from hvdkit.migrate.conditions.answers import Answer, open_at, places, row
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.coverage.through_ddp import Around, passes_around, trains_others
from hvdkit.migrate.facts.models.optimizers import every_optimizer
from hvdkit.migrate.facts.optimizers.averaged_before_steps import averaged_before_steps
from hvdkit.migrate.facts.optimizers.horovod_wraps import uses_horovod
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_of
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.facts.programs.training_paths import training_paths
from hvdkit.migrate.plan import Condition, State
from hvdkit.migrate.values import vocabulary as words

GONE = "nothing of Horovod is left"
AVERAGED = "every optimizer's gradients are averaged"
THROUGH = "training goes through DDP"
BEFORE_STEPS = "what an optimizer holds is averaged before its steps, however its gradients were computed"
BY_HAND = "Horovod wrapped no optimizer: the program averages them itself, by the same collectives"


def conditions_of_ddp(facts: Facts, entry: Path, before: Facts) -> tuple[Condition, ...]:
    """The table for the program that starts with a file. before: the facts of the files as they are."""
    program = next((p for p in programs_of(facts) if p.entry.source.path == entry), None)
    was = next((p for p in programs_of(before) if p.entry.source.path == entry), None)
    if program is None or was is None or not uses_horovod(before, was):
        return ()
    wrapped = any(facts.calls_in(program.files, *words.DDP))
    answers = {GONE: _gone(facts, program)}
    before_steps = any(each.names in program.files for each in averaged_before_steps(facts))
    if wrapped or before_steps or any(facts.calls_in(program.files, *words.HVD_OPTIMIZER)):
        answers[AVERAGED] = _averaged(facts, program)
        answers[THROUGH] = _through(facts, program) if wrapped else Answer(State.NONE, BEFORE_STEPS)
    else:
        answers[AVERAGED] = answers[THROUGH] = Answer(State.NONE, BY_HAND)
    otherwise = [(program.entry, program.entry.source.tree)]
    return tuple(row(before, name, answer, otherwise) for name, answer in answers.items())


def _gone(facts: Facts, program: ProgramFacts) -> Answer:
    left = [
        (names, binding.node)
        for names in sorted(program.files, key=lambda names: str(names.source.path))
        for _, binding in names.imports
        if binding.qualified.partition(".")[0] == "horovod"
        or binding.qualified.startswith(words.EVERY_HOROVOD)
    ]
    if left:
        return open_at("Horovod is still imported: {}", left)
    return Answer(State.PROVEN, "no file of the program imports it")


def _averaged(facts: Facts, program: ProgramFacts) -> Answer:
    mine = [o for o in every_optimizer(facts) if runs_in(facts, program, o.names, o.node)]
    averaging = {value for each in averaged_before_steps(facts) for value in each.optimizers}
    alone = [o for o in mine if o.value not in averaging and trains_others(facts, o)]
    if not mine:
        return Answer(State.OPEN, "no optimizer was found")
    if alone:
        return open_at("a part of what the optimizer trains is in no model in DDP: {}", alone)
    return Answer(State.PROVEN, f"by DDP, or before each step: {places(mine)}")


def _through(facts: Facts, program: ProgramFacts) -> Answer:
    paths = training_paths(facts, program)
    if not paths:
        return Answer(State.OPEN, "no call of backward() was found that the program runs")
    around: list[Around] = [each for each in passes_around(facts) if each.names in program.files]
    if around:
        return open_at(f"{around[0].why}: {{}}", around)
    return Answer(
        State.PROVEN, f"its loss is computed by the wrapper: {places((p.names, p.backward) for p in paths)}"
    )
