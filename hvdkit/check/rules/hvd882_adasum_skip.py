"""HVD882: skip_synchronize() on an optimizer that reduces with Adasum."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import wraps
from hvdkit.check.windows import skips, windows
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import keyword


def check(facts: Facts) -> Iterator[Finding]:
    for window in windows(facts):
        if not skips(window):
            continue
        values = facts.flow.values(window.names, window.step.target)
        for wrap in wraps(facts):
            op = keyword(wrap.node, "op")
            names = facts.flow.qualified(wrap.names, op) if wrap.value in values and op is not None else ()
            if names and all(name.endswith(".Adasum") for name in names):
                message = "Adasum reduces in step(), and cannot skip it: AssertionError"
                advice = "step without skip_synchronize(), and do not clip; or reduce with hvd.Average"
                yield manual("HVD882", window.names, window.step.call, message, advice)


RULE = Rule(
    id="HVD882",
    title="skip_synchronize() with Adasum",
    what='It raises "Skipping synchronization is not supported when using Adasum optimizer".',
    why="Adasum combines the steps that the ranks would take, not their gradients, so step() has to reduce.",
    safety="Nothing is edited: either clipping or Adasum must be removed.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(optimizer, op=hvd.Adasum)
            for x in batches:
                model(x).sum().backward()
                optimizer.synchronize()
                with optimizer.skip_synchronize():
                    optimizer.step()
            """,
            reason="the step skips the reduction",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(optimizer, op=hvd.Adasum if args.adasum else hvd.Average)
            for x in batches:
                model(x).sum().backward()
                optimizer.synchronize()
                with optimizer.skip_synchronize():
                    optimizer.step()
            """,
            reason="it depends on an option",
        ),
    ),
)
