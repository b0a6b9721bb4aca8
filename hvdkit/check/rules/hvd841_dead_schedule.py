"""HVD841: a schedule works on the optimizer below the wrapping, and a checkpoint cuts the two apart."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import WRAPPED, Wrapped, argument, is_wrapped, wraps
from hvdkit.check.order import maybe_before
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.vocabulary import is_scheduler


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls("torch.optim.lr_scheduler."):
        given = argument(site.node, 0, "optimizer")
        values = facts.flow.values(site.names, given)
        if not is_scheduler(site.name) or any(value.name in WRAPPED for value in values):
            continue
        for wrap in wraps(facts):
            if wrap.names is not site.names or not wrap.optimizers & values:
                continue
            if maybe_before(site.names, site.node, wrap.node) and _loads(facts, wrap):
                message = "load_state_dict() on the wrapped optimizer disconnects this schedule: it has no further effect"
                advice = "create the schedule below the wrapping, for the wrapped optimizer"
                yield manual("HVD841", site.names, site.node, message, advice)


def _loads(facts: Facts, wrap: Wrapped) -> bool:
    return any(
        wrap.value in facts.flow.values(names, receiver) and is_wrapped(facts, names, receiver)
        for names, _, receiver in facts.methods("load_state_dict")
    )


RULE = Rule(
    id="HVD841",
    title="a schedule made for the optimizer below the wrapping",
    what="After a resume the learning rate no longer changes, whatever the schedule prints.",
    why=(
        "Both optimizers share their parameter groups until load_state_dict() gives the wrapped one new "
        "ones; the schedule keeps changing the old ones."
    ),
    safety="Nothing is edited: the line has to move below the wrapping.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10)
            optimizer = hvd.DistributedOptimizer(optimizer)
            optimizer.load_state_dict(torch.load("checkpoint"))
            """,
            reason="it was created too early",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(optimizer)
            schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10)
            optimizer.load_state_dict(torch.load("checkpoint"))
            """,
            reason="it uses the wrapped optimizer",
        ),
    ),
)
