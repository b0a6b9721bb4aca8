"""Models with random weights that no broadcast will reach: frozen teachers and targets, in no optimizer."""

from __future__ import annotations

import ast

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.coverage.own_weights import Planned, own_weights, variable_of
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.models.wraps import find_wraps
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.after_backward import after_backward
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.start_values import with_the_rest
from hvdkit.migrate.facts.optimizers.wrap_places import wrap_places
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.facts.programs.training_paths import training_paths
from hvdkit.migrate.index.names import Names


@dataclass(frozen=True)
class Unsent:
    """A statement that makes a model, and what the model is called below it."""

    names: Names
    statement: ast.stmt
    variable: str


@once
def unsent_models(facts: Facts) -> list[Unsent]:
    """The models of migrated programs that only need a line below the statement that makes them."""
    planned = _planned(facts)
    training = [p for p in programs_of(facts) if p.migrates and training_paths(facts, p)]
    every = [program for program in programs_of(facts) if program not in training]
    found: dict[ast.stmt, Unsent] = {}
    for program in training:
        for names, call in own_weights(facts, program, planned):
            statement, variable = names.statement(call), variable_of(names, call)
            if variable is None or where_runs(facts, names, call) is not Where.ALL:
                continue
            model = names.source.segment(variable)
            if model in planned.written:
                continue
            if not any(runs_in(facts, other, names, call) for other in every):  # nothing starts Horovod there
                found[statement] = Unsent(names, statement, model)
    return list(found.values())


def _planned(facts: Facts) -> Planned:
    """What the broadcasts reach that stand where DDP did, and below optimizers."""
    wraps = [wrap for wrap in find_wraps(facts) if wrap.inner is not None]
    models = [wrap.models for wrap in wraps] + [each.models for each in averaging_optimizers(facts)]
    written = {wrap.names.source.segment(wrap.inner) for wrap in wraps if wrap.inner is not None}
    written |= {text for place in wrap_places(facts) for text in with_the_rest(facts, place)}
    written |= {text for start in after_backward(facts).starts for text in start.models}
    return Planned(frozenset().union(*models), frozenset(written))
