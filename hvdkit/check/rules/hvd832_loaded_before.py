"""HVD832: an optimizer's checkpoint is loaded before the wrapping, which forgets it."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import WRAPPED, optimizer_loads, wraps
from hvdkit.check.order import maybe_before
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    loads = list(optimizer_loads(facts))
    for names, call, values in loads:
        if any(value.name in WRAPPED for value in values):
            continue
        for wrap in wraps(facts):
            later = any(wrap.value in others for _, _, others in loads)
            if wrap.names is names and wrap.optimizers & values and not later:
                if wrap.value.name == "horovod.torch.DistributedOptimizer":
                    if maybe_before(names, call, wrap.node):
                        message = (
                            "the wrapping below creates a new optimizer: the momenta loaded here are lost"
                        )
                        advice = "load the optimizer's state below hvd.DistributedOptimizer(...)"
                        yield manual("HVD832", names, call, message, advice)


RULE = Rule(
    id="HVD832",
    title="optimizer state loaded before the wrapping",
    what="Training continues with empty momenta, as if it started over; the loss jumps at each resume.",
    why="hvd.DistributedOptimizer creates a new optimizer from the parameter groups; the state is not copied.",
    safety="Nothing is edited: the block that reads the checkpoint has to move below the wrapping.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.Adam(model.parameters())
            if args.resume:
                optimizer.load_state_dict(torch.load(args.resume)["optimizer"])
            optimizer = hvd.DistributedOptimizer(optimizer)
            """,
            reason="the wrapped optimizer has no state",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.Adam(model.parameters())
            optimizer = hvd.DistributedOptimizer(optimizer)
            if args.resume:
                optimizer.load_state_dict(torch.load(args.resume)["optimizer"])
                model.load_state_dict(torch.load(args.resume)["model"])
            """,
            reason="it is wrapped first",
        ),
    ),
)
