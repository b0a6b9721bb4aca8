"""HVD831: parameters that were frozen when the optimizer was wrapped, and are unfrozen later."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import Wrapped, wrapped_models, wraps
from hvdkit.check.order import always_before, maybe_before
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.freezing import Switch, switches
from hvdkit.migrate.facts.models.wraps import STAND_STILL
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    every = list(switches(facts))
    for wrap in wraps(facts):
        if wrap.value.name != "horovod.torch.DistributedOptimizer":
            continue
        mine = [switch for switch in every if switch.models & wrapped_models(facts, wrap)]
        frozen = [switch for switch in mine if switch.value is False and _before(switch, wrap)]
        for switch in mine:
            parts = [other for other in frozen if other.models & switch.models]
            if switch.value is True and parts and _after(switch, wrap):
                message = (
                    "these parameters were frozen when the optimizer was wrapped: they are never averaged"
                )
                advice = (
                    "import hvdkit.torch as hvd, whose optimizer averages what is unfrozen later; or freeze "
                    "below "
                    "the wrapping, and while they are frozen " + STAND_STILL.format("does not require one")
                )
                yield manual("HVD831", switch.names, switch.at, message, advice)


def _before(switch: Switch, wrap: Wrapped) -> bool:
    return switch.names is wrap.names and maybe_before(wrap.names, switch.at, wrap.node)


def _after(switch: Switch, wrap: Wrapped) -> bool:
    return switch.names is wrap.names and always_before(wrap.names, wrap.node, switch.at)


RULE = Rule(
    id="HVD831",
    title="parameters unfrozen after the wrapping",
    what="Once unfrozen, each rank trains these parameters by itself; they diverge at the first step.",
    why="Horovod puts its hooks on the parameters that require gradients when the optimizer is wrapped.",
    safety=(
        "Nothing is edited. If they are wrapped first and frozen afterwards, the missing gradients are "
        "filled with zeros and reduced, so unfreezing is safe at any time; weight decay and momentum keep "
        "moving such a parameter unless its gradient is set to None between synchronize() and step()."
    ),
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            model = torch.nn.Linear(2, 2)
            model.requires_grad_(False)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(optimizer)
            for epoch in range(10):
                if epoch == 5:
                    model.requires_grad_(True)
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="it is frozen while it is wrapped",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(optimizer)
            for epoch in range(10):
                model.requires_grad_(False)
                critic(model(x)).sum().backward()
                model.requires_grad_(True)
            """,
            reason="it is trainable while it is wrapped, as in a GAN",
        ),
    ),
)
