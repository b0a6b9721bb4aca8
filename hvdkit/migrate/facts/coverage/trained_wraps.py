"""Whether the optimizer of every model that DDP wraps is known: without it, nobody averages gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.code.loops import backward_calls, library_backwards
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.optimizers import Optimizer
from hvdkit.migrate.facts.models.parameter_roots import parameter_roots
from hvdkit.migrate.facts.models.weight_updates import hand_updates
from hvdkit.migrate.facts.models.wraps import Wrap, find_wraps
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.after_backward import after_backward, uses_gradients
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.before_steps import before_steps
from hvdkit.migrate.facts.optimizers.named_passes import passes_by_name
from hvdkit.migrate.facts.optimizers.step_calls import step_calls
from hvdkit.migrate.facts.optimizers.unknown_steps import unknown_steps, unseen_steps
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_of
from hvdkit.migrate.facts.programs.reached_code import run_by_nobody, runs_in
from hvdkit.migrate.facts.programs.training_paths import training_paths
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names


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


@once
def trained_wraps(facts: Facts) -> list[tuple[ProgramFacts, Wrap, list[Optimizer]]]:
    """Every DDP call of a program that trains, with the optimizers that may train its model."""
    found: list[tuple[ProgramFacts, Wrap, list[Optimizer]]] = []
    backwards = [*backward_calls(facts), *library_backwards(facts)]
    wraps = [wrap for wrap in find_wraps(facts) if wrap.name in words.DDP]
    lost = {names for names, call in backwards if run_by_nobody(facts, names, call)}
    for program in programs_of(facts):
        # An evaluation may share a file with the training, and with it the backward pass.
        trains = any(
            names in program.files and runs_in(facts, program, names, call) for names, call in backwards
        )
        trains = trains or passes_by_name(facts, program) or _steps_unseen(facts, program)
        mine = [optimizer for optimizer in averaging_optimizers(facts) if optimizer.names in program.files]
        for wrap in wraps if trains or lost & program.files else ():
            if wrap.names not in program.files:
                continue
            # What an evaluation wraps, in a file that lends the training a function, is not trained.
            runs = trains and runs_in(facts, program, wrap.names, wrap.node)
            if runs or run_by_nobody(facts, wrap.names, wrap.node):
                found.append((program, wrap, [each for each in mine if may_train(each, wrap)]))
    return found


def _steps_unseen(facts: Facts, program: ProgramFacts) -> bool:
    """Whether something unknown takes steps in a program whose backward pass is not in the project either."""
    if any(optimizer.names in program.files for optimizer in averaging_optimizers(facts)):
        return False
    every = (*unknown_steps(facts, program, averaging_optimizers(facts)), *unseen_steps(facts, program))
    return any(runs_in(facts, program, names, step) for names, step in every)


def without_optimizer(facts: Facts) -> Iterator[tuple[ProgramFacts, Names, ast.AST]]:
    """The first step of each program of one process that trains by something unknown, or by hand, alone."""
    for program in programs_of(facts):
        mine = any(optimizer.names in program.files for optimizer in averaging_optimizers(facts))
        if program.kind == "single" and not mine and training_paths(facts, program):
            by_hand = [(names, node) for names in program.files for node in hand_updates(names)]
            unseen = [at for at in unseen_steps(facts, program) if runs_in(facts, program, *at)]
            unknown = unknown_steps(facts, program, averaging_optimizers(facts))
            seen = [*unknown, *sorted(by_hand, key=lambda at: at[1].lineno)]
            yield from ((program, *at) for at in [*seen, *unseen][:1])


def may_train(optimizer: Optimizer, wrap: Wrap) -> bool:
    """Whether an optimizer may train the model that a call wraps."""
    if _unknown(optimizer.models) or _unknown(wrap.models):
        return True
    return bool(optimizer.models & wrap.models)


def _unknown(models: frozenset[Value]) -> bool:
    return not models or any(model.kind == "param" for model in models)


def others_beside(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    """Constructions by a library, from parameters, of what takes the steps of a known optimizer elsewhere."""
    known = {optimizer.value for optimizer in averaging_optimizers(facts)}
    constructions = {optimizer.node for optimizer in averaging_optimizers(facts)}
    for step in step_calls(facts).steps:
        for value in facts.flow.values(step.names, step.target) - known:
            call = value.node
            if value.kind != "made" or not isinstance(call, ast.Call) or not call.args:
                continue
            if call in constructions:  # of a class that comes from a table, one of its values
                continue
            around = facts.flow.unwrap(facts.flow.values(value.names, call.args[0])) & known
            if not around and parameter_roots(facts, value.names, call.args[0]):
                yield value.names, call
