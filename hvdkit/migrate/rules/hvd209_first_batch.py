"""HVD209: a parameter that is set from the first batch differs from rank to rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.coverage.set_from_batch import set_from_batch
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    told: set[ast.stmt] = set()
    for program in (program for program in programs_of(facts) if program.kind == "single"):
        for names, statement, attribute in set_from_batch(facts, program):
            if statement in told:
                continue
            told.add(statement)
            message = (
                f"self.{attribute} is set from the batch that the layer is given: each rank would set a "
                "different value, and averaged gradients keep the difference"
            )
            hvd = horovod_name(facts, program.entry)
            advice = (
                f"call {hvd}.broadcast_parameters(model.state_dict(), root_rank=0) on all ranks once the "
                "first batch has passed through the model"
            )
            yield manual("HVD209", names, statement, message, advice)


RULE = Rule(
    id="HVD209",
    title="parameters that are set from the first batch",
    what=(
        "Reports a layer whose forward pass gives one of its parameters a value computed from its input, as "
        "the normalization layers of flows do with their first batch."
    ),
    why=(
        "The broadcast of the weights comes before the first batch, of which each rank reads its own. What "
        "a layer then sets stays different on every rank: averaged gradients change all of them by the same "
        "amount."
    ),
    safety="Nothing is edited: which pass sets the parameters is for the author to decide.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch
            from torch import nn

            class Scale(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.loc = nn.Parameter(torch.zeros(8))
                    self.ready = False

                def start(self, x):
                    mean = x.mean(0)
                    self.loc.data.copy_(-mean)

                def forward(self, x):
                    if not self.ready:
                        self.start(x)
                        self.ready = True
                    return x + self.loc

            model = Scale()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            optimizer.step()
            """,
            reason="each rank would shift by the mean of its own first batch",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch import nn

            class Scale(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.loc = nn.Parameter(torch.zeros(8))

                def load(self, weights):
                    self.loc.data.copy_(weights)

                def forward(self, x):
                    self.loc.data = self.loc.data.clamp(0, 1)
                    return x + self.loc

            model = Scale()
            model.load(weights)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            optimizer.step()
            """,
            reason="weights that are loaded, and those that are kept in bounds, are the same on all ranks",
        ),
    ),
)
