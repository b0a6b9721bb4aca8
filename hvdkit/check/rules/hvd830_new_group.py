"""HVD830: parameters that join an optimizer after it was wrapped are never averaged."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import HOROVOD, is_wrapped
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    for names, call, receiver in facts.methods("add_param_group"):
        if is_wrapped(facts, names, receiver, HOROVOD):
            message = "parameters that are added after the wrapping are never averaged"
            advice = "add them to torch's optimizer, before hvd.DistributedOptimizer wraps it"
            yield manual("HVD830", names, call, message, advice)


RULE = Rule(
    id="HVD830",
    title="add_param_group after the wrapping",
    what="Each rank trains the added parameters by itself; they diverge at the first step, without any error.",
    why="Horovod puts its hooks on the parameters that the optimizer has when it is wrapped, and never again.",
    safety="Nothing is edited: the group has to move above the wrapping with everything that it is built from.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.SGD(body.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(optimizer)
            optimizer.add_param_group({"params": head.parameters()})
            """,
            reason="the head is added too late",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.SGD(body.parameters(), lr=0.1)
            optimizer.add_param_group({"params": head.parameters()})
            optimizer = hvd.DistributedOptimizer(optimizer)
            """,
            reason="the group is there when the optimizer is wrapped",
        ),
    ),
)
