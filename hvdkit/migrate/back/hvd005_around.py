"""HVD005: training that passes by the wrapper."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import refused
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.coverage.through_ddp import passes_around, written_wraps
from hvdkit.migrate.plan import Finding

ADVICE = "let forward() compute the loss, and call backward() once for each call of the model"


def check(facts: Facts) -> Iterator[Finding]:
    if written_wraps(facts):
        for found in passes_around(facts):
            message = f"DDP would not average these gradients: {found.why}"
            yield refused("HVD005", found.names, found.node, message, ADVICE)


RULE = Rule(
    id="HVD005",
    title="Training around DDP",
    what="Refuses a program that trains a model by other calls than that of its wrapper, calls backward() several "
    "times for one forward(), or freezes and unfreezes parameters of a wrapped model.",
    why="Horovod averages the gradients of every parameter of the optimizer, however they were computed. DDP "
    "averages what the forward() of its wrapper computes, and the ranks silently diverge.",
    safety="Nothing is rewritten: the program is left as it is.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 2))
            model.module(torch.ones(1, 2)).sum().backward()
            """,
            reason="the program does not come from Horovod",
        ),
    ),
)
