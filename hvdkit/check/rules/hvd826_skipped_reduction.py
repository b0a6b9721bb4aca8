"""HVD826: skip_synchronize() without synchronize(): the gradients are not waited for at all."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.windows import Window, skips, synchronized, windows
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.optimizers.written_optimizers import plain_target
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    for window in windows(facts):
        if skips(window) and synchronized(facts, window) is None:
            message = "this step waits for no reduction: some gradients are this rank's own, some averaged"
            yield safe(facts, "HVD826", window.names, window.step.call, message, _wait, window.names, window)


def _wait(names: Names, window: Window) -> Edit:
    name = plain_target(window.step)
    below = next(iter(window.between), None)
    if name is None:
        raise edits.CannotEdit("the optimizer that steps is not a plain variable or attribute")
    if below is None:
        return edits.after(names.source, window.backward, [f"{name}.synchronize()"])
    return edits.before(names.source, below, [f"{name}.synchronize()"])


RULE = Rule(
    id="HVD826",
    title="skip_synchronize() without synchronize()",
    what="The step uses whatever gradients are there: the ranks' weights diverge at the first step and never synchronize again.",
    why="skip_synchronize() promises that optimizer.synchronize() was called before.",
    safety="Safe: it is called right below backward().",
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
                with optimizer.skip_synchronize():
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

            def reduce(loss):
                loss.backward()
                optimizer.synchronize()

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                reduce(model(x).sum())
                with optimizer.skip_synchronize():
                    optimizer.step()
            """,
            reason="the function that runs backward() waits, too",
        ),
    ),
)
