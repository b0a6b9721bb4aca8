"""HVD884: LBFGS, which evaluates the model several times in one step."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import wraps
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    for wrap in wraps(facts):
        if wrap.optimizers and all(value.name == "torch.optim.LBFGS" for value in wrap.optimizers):
            message = "LBFGS runs backward() several times in a step, and the reduction runs only once"
            advice = "use another optimizer; LBFGS has no counterpart in Horovod"
            yield manual("HVD884", wrap.names, wrap.node, message, advice)


RULE = Rule(
    id="HVD884",
    title="LBFGS in hvd.DistributedOptimizer",
    what="The first step raises an AssertionError, and hvd.broadcast_optimizer_state a ValueError.",
    why="the reduction is done once, before the step; LBFGS needs reduced gradients many times within it.",
    safety="Nothing is edited.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.LBFGS(model.parameters()))
            """,
            reason="its step evaluates a closure",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.Adam(model.parameters()))
            local = torch.optim.LBFGS(probe.parameters())
            """,
            reason="the wrapped one takes plain steps",
        ),
    ),
)
