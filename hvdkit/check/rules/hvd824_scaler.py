"""HVD824: a GradScaler decides on one rank's gradients whether that rank steps."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.windows import first_reader, skips, synchronized, wait_before, windows
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    for window in windows(facts):
        if not window.step.scaled or skips(window) or synchronized(facts, window) is not None:
            continue
        if first_reader(facts, window) is None:
            message = (
                "the GradScaler checks for infinities before the gradients are reduced: the ranks diverge"
            )
            yield safe(
                facts,
                "HVD824",
                window.names,
                window.step.call,
                message,
                wait_before,
                window,
                window.statement,
            )


RULE = Rule(
    id="HVD824",
    title="GradScaler steps before the gradients are reduced",
    what=(
        "When one rank's gradients overflow, that rank skips its step and the others take one, with "
        "infinities in it. Its next zero_grad() then raises an AssertionError, and the job fails."
    ),
    why="scaler.step() reads the gradients before it calls optimizer.step(), where Horovod would reduce them.",
    safety=(
        "Safe: optimizer.synchronize() first, so that an infinity reaches every rank and all of them skip, "
        "then the step under optimizer.skip_synchronize(); the order of Horovod's own example."
    ),
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            scaler = torch.cuda.amp.GradScaler()
            for x in batches:
                optimizer.zero_grad()
                scaler.scale(model(x).sum()).backward()
                scaler.step(optimizer)
                scaler.update()
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            scaler = torch.cuda.amp.GradScaler()
            for x in batches:
                optimizer.zero_grad()
                scaler.scale(model(x).sum()).backward()
                optimizer.synchronize()
                with optimizer.skip_synchronize():
                    scaler.step(optimizer)
                scaler.update()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            scaler = torch.cuda.amp.GradScaler()
            for x in batches:
                scaler.scale(model(x).sum()).backward()
                optimizer.synchronize()
                scaler.unscale_(optimizer)
                with optimizer.skip_synchronize():
                    scaler.step(optimizer)
            """,
            reason="the gradients are reduced first",
        ),
    ),
)
