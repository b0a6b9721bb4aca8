"""HVD825: after synchronize() the step reduces every gradient once more."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.windows import skip, skips, synchronized_itself, windows
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    for window in windows(facts):
        if synchronized_itself(facts, window) and not skips(window):
            message = "the gradients are already reduced: this step reduces them all again"
            yield safe(facts, "HVD825", window.names, window.step.call, message, skip, window)


RULE = Rule(
    id="HVD825",
    title="step() after synchronize() without skip_synchronize()",
    what=(
        "Every gradient crosses the network twice and Horovod warns of it; with op=hvd.Sum the gradients "
        "come out hvd.size() times too large."
    ),
    why="step() synchronizes unless it is inside optimizer.skip_synchronize().",
    safety="Safe: the step is put under skip_synchronize().",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                model(x).sum().backward()
                optimizer.synchronize()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                model(x).sum().backward()
                optimizer.synchronize()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                with optimizer.skip_synchronize():
                    optimizer.step()
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
            for x in batches:
                model(x).sum().backward()
                torch.cuda.synchronize()
                optimizer.step()
            """,
            reason="this waits for the device",
        ),
    ),
)
