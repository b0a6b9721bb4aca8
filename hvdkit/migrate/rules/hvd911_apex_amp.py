"""HVD911: apex amp is left to you, in the order that Horovod needs."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import AverageAfter, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.optimizers.after_backward import after_backward
from hvdkit.migrate.facts.programs.programs import programs_with
from hvdkit.migrate.plan import Finding

AMP = ("apex.amp.initialize", "timm.utils.ApexScaler")
MESSAGE = "apex amp is no longer maintained, and what it does to Horovod's optimizer was not proven"
ADVICE = (
    "use torch.autocast and torch.amp.GradScaler; to keep apex: wrap the optimizer before amp.initialize, "
    "call optimizer.synchronize() inside `with amp.scale_loss(...)`, and step in optimizer.skip_synchronize()"
)


def check(facts: Facts) -> Iterator[Finding]:
    averaged = after_backward(facts).programs
    for site in facts.calls(*AMP):
        mine = programs_with(facts, site.names)
        if any(program.migrates and program not in averaged for program in mine):
            yield manual("HVD911", site.names, site.node, MESSAGE, ADVICE)


RULE = Rule(
    id="HVD911",
    title="apex amp is left to you",
    what=(
        "Marks amp.initialize() where Horovod's optimizer averages. HVD404 has already written the order "
        "that it needs: the reduction inside amp.scale_loss(), before apex unscales, and none in step(). "
        "Under DDP nothing is left to you: HVD416 averages after backward(), and apex keeps its optimizer."
    ),
    why=(
        "apex replaces parameters and patches the optimizer (levels O2 and O3 keep different parameters "
        "than those that Horovod hooks into). torch has mixed precision built in since 1.6."
    ),
    safety="Nothing is edited; the marker is for you.",
    check=check,
    average_after=AverageAfter.FOUND,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch
            from apex import amp

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
            with amp.scale_loss(model(x).sum(), optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()
            """,
            reason="what apex does inside cannot be seen",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch import amp

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            with amp.autocast("cuda"):
                loss = model(x).sum()
            loss.backward()
            optimizer.step()
            """,
            reason="torch's own amp",
        ),
    ),
)
