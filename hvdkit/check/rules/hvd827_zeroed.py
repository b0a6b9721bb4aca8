"""HVD827: gradients are zeroed between backward() and step()."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.windows import Window, synchronized, windows
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    for window in windows(facts):
        call = _zeroes(facts, window)
        if call is not None and synchronized(facts, window) is None:
            message = "the gradients that were just computed are zeroed before the step"
            advice = "call zero_grad() before backward(), or after step()"
            yield manual("HVD827", window.names, call, message, advice)


def _zeroes(facts: Facts, window: Window) -> ast.Call | None:
    for statement in window.between:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            if call.func.attr == "zero_grad":
                values = facts.flow.unwrap(facts.flow.values(window.names, call.func.value))
                if values & window.step.optimizers:
                    return call
    return None


RULE = Rule(
    id="HVD827",
    title="zero_grad() between backward() and step()",
    what='It raises "optimizer.zero_grad() was called after loss.backward() but before optimizer.step()".',
    why="the gradients are being reduced between the ranks; in a job of one rank the step would use zeros.",
    safety="Nothing is edited: where the gradients of the previous pass should be zeroed is for the author to decide.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                model(x).sum().backward()
                optimizer.zero_grad()
                optimizer.step()
            """,
            reason="the step would use no gradients",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                model(x).sum().backward()
                optimizer.step()
                optimizer.zero_grad()
            """,
            reason="the step is over",
        ),
    ),
)
