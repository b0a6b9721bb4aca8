"""HVD403: the learning rate of a script that was single-process, scaled by the number of ranks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.arguments import keyword
from hvdkit.migrate.facts.optimizers import Optimizer
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    for optimizer in facts.optimizers:
        if facts.kinds(optimizer.names) - {"none"} != {"single"}:
            continue
        rate = _learning_rate(optimizer)
        if rate is None or _scaled(optimizer.names, rate):
            continue
        message = (
            "N ranks make a step of N times the samples: scale the learning rate by hvd.size(), with warm-up"
        )
        yield facts.suggested("HVD403", optimizer.names, rate, message, _edits, facts, optimizer, rate)


def _learning_rate(optimizer: Optimizer) -> ast.expr | None:
    return keyword(optimizer.node, "lr")


def _scaled(names: Names, rate: ast.expr) -> bool:
    return any(
        isinstance(part, ast.Attribute) and part.attr in ("size", "local_size") for part in ast.walk(rate)
    )


def _edits(facts: Facts, optimizer: Optimizer, rate: ast.expr) -> list[Edit]:
    source = optimizer.names.source
    simple = isinstance(rate, (ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Subscript))
    head, tail = ("", "") if simple else ("(", ")")
    start, end = source.start(rate), source.end(rate)
    size = f"{facts.hvd(optimizer.names)}.size()"
    return (
        [Edit(start, start, head), Edit(end, end, f"{tail} * {size}")]
        if head
        else [Edit(end, end, f" * {size}")]
    )


RULE = Rule(
    id="HVD403",
    title="scale the learning rate",
    what="Multiplies the optimizer's lr by hvd.size() in a script that was single-process.",
    why=(
        "The batch of one step grows with the number of ranks. The linear rule (Goyal et al. 2017, Accurate, "
        "Large Minibatch SGD) keeps the progress per epoch; it wants a warm-up of a few epochs."
    ),
    safety=(
        "Suggested, never on its own: it changes what is computed. A DDP script is left alone, since its author "
        "chose the rate for the whole batch."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
            loss.backward()
            """,
            """\
            import horovod.torch as hvd
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=args.lr * hvd.size(), momentum=0.9)
            loss.backward()
            """,
            suggested=True,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss.backward()
            """,
            reason="only with --suggested",
            reported=True,
        ),
    ),
)
