"""HVD401: the optimizer becomes a DistributedOptimizer, right after it is made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, refused, required, safe
from hvdkit.migrate.catalog.rule import AverageAfter, Change, Keep, Rule
from hvdkit.migrate.decisions.optimizer_wraps import Verdict, optimizer_wraps
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.optimizers.wrap_order import earlier, late_moves
from hvdkit.migrate.facts.optimizers.wrap_places import WrapPlace
from hvdkit.migrate.facts.programs.programs import migrates
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

MOVED_FIRST = "the model is moved before its optimizer is made: hooks of parameters are lost with a move"


def check(facts: Facts) -> Iterator[Finding]:
    for decision in optimizer_wraps(facts):
        names, call, message = decision.place.names, decision.place.call, decision.message
        if decision.verdict is Verdict.WRAPPED:
            yield required(facts, "HVD401", names, call, message, decision.made)
        elif decision.verdict is Verdict.LEFT:
            yield manual("HVD401", names, call, message, decision.advice)
        else:
            yield refused("HVD401", names, call, message, decision.advice)
    late: dict[ast.Call, list[tuple[WrapPlace, Names]]] = {}
    for place, names, call in late_moves(facts):
        if migrates(facts, place.names):
            late.setdefault(call, []).append((place, names))
    for call, places in late.items():
        place, names = places[0]
        above = [earlier(each, names, call) for each, _ in places]
        if None in above:
            message = (
                f"the model is moved after its optimizer is wrapped ({place.names.place(place.statement)}): "
                "its parameters lose Horovod's hooks, and their gradients are only sent in step()"
            )
            yield manual("HVD401", names, call, message, "move the model before its optimizer is created")
        else:
            first = min((statement for statement in above if statement), key=lambda one: one.lineno)
            yield safe(facts, "HVD401", names, call, MOVED_FIRST, _move, names, first, names.statement(call))


def _move(names: Names, anchor: ast.stmt, moving: ast.stmt) -> list[Edit]:
    """Moves a line above a different one. Raises CannotEdit."""
    line = names.source.segment(moving)
    return [edits.before(names.source, anchor, [line]), edits.delete(names, moving)]


RULE = Rule(
    id="HVD401",
    title="the optimizer becomes distributed",
    what=(
        "Wraps each optimizer in hvd.DistributedOptimizer, with the model's named parameters, where it is "
        "created and below the lines that move the model to its device. A line further down that moves it, and "
        "could as well come first, is moved up; a move in other code that may run later is reported."
    ),
    why="This is where Horovod averages gradients: hooks on every parameter start the reduction during the backward pass.",
    safety=(
        "Safe: gradients are averaged as DDP averages them. Done before schedulers and checkpoints see the "
        "optimizer, since wrapping creates a new object with empty state."
    ),
    check=check,
    average_after=AverageAfter.REFUSED,
    changes=(
        Change(
            """\
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss = model(x).sum()
            loss.backward()
            """,
            """\
            import horovod.torch as hvd
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
            loss = model(x).sum()
            loss.backward()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
            loss.backward()
            """,
            reason="a scheduler is not an optimizer",
        ),
    ),
)
