"""HVD419: a model with random weights that no optimizer trains gets rank 0's, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.coverage.own_weights import Planned, own_weights, variable_of
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
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.wrapping import broadcast_line
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


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


def check(facts: Facts) -> Iterator[Finding]:
    for model in unsent_models(facts):
        message = "no optimizer trains this model, and each rank draws its own weights for it: rank 0's are broadcast"
        yield safe(facts, "HVD419", model.names, model.statement, message, _edit, facts, model)


def _edit(facts: Facts, model: Unsent) -> Edit:
    line = broadcast_line(facts, model.names, model.variable)
    return edits.after(model.names.source, model.statement, [line])


RULE = Rule(
    id="HVD419",
    title="frozen models start from the same weights",
    what=(
        "Broadcasts rank 0's weights of a model that starts from random ones and that no optimizer trains: a teacher, a "
        "target, a random projection. Not where a seed makes them the same on all ranks, or a state is loaded."
    ),
    why="The training learns from its outputs: with a different teacher, each rank would learn something different.",
    safety="Safe: it changes nothing on rank 0, and nothing in a single process.",
    check=check,
    changes=(
        Change(
            """\
            import torch

            model = torch.nn.Linear(2, 1)
            teacher = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            (model(x) - teacher(x).detach()).square().mean().backward()
            """,
            """\
            import horovod.torch as hvd
            import torch

            model = torch.nn.Linear(2, 1)
            teacher = torch.nn.Linear(2, 1)
            hvd.broadcast_parameters(teacher.state_dict(), root_rank=0)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            (model(x) - teacher(x).detach()).square().mean().backward()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            model = torch.nn.Linear(2, 1)
            teacher = torch.nn.Linear(2, 1)
            teacher.load_state_dict(torch.load("teacher.pt"))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            (model(x) - teacher(x).detach()).square().mean().backward()
            """,
            reason="the state that is loaded is the same for all ranks",
        ),
    ),
)
