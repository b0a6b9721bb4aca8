"""HVD419: a model with random weights that no optimizer trains gets rank 0's, too."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.coverage.unsent_models import Unsent, unsent_models
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rewrites.wrapping import broadcast_line


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
