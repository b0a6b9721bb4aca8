"""HVD822: an optimizer of Horovod's is wrapped again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import WRAPPED, Wrapped, wraps
from hvdkit.check.order import always_before
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.binding_order import last_binding
from hvdkit.migrate.values.value import Value


def check(facts: Facts) -> Iterator[Finding]:
    for wrap in wraps(facts):
        if wrap.given is None:
            continue
        # Where the variable got a new optimizer since, an earlier one that was wrapped is not in it.
        last = last_binding(wrap.names, wrap.given) if isinstance(wrap.given, ast.Name) else None
        held = facts.flow.bound(wrap.names, last) if last else facts.flow.values(wrap.names, wrap.given)
        inside = [value for value in held if value.name in WRAPPED]
        if any(_certain(wrap, value) for value in inside):
            message = "this optimizer is Horovod's already: wrapping it again raises TypeError"
            yield safe(
                facts,
                "HVD822",
                wrap.names,
                wrap.node,
                message,
                edits.unwrap,
                wrap.names.source,
                wrap.node,
                wrap.given,
            )


def _certain(wrap: Wrapped, inner: Value) -> bool:
    """Whether the inner wrapping has always happened: right inside, or above under no test."""
    if inner.names is not wrap.names or inner.node is wrap.node:
        return False
    return inner.node is wrap.given or always_before(wrap.names, inner.node, wrap.node)


RULE = Rule(
    id="HVD822",
    title="an optimizer is wrapped twice",
    what="hvd.DistributedOptimizer raises TypeError: its class cannot wrap an instance of itself.",
    why="wrapping gives an optimizer a new class, derived from its own, that reduces in step().",
    safety="Safe: the second wrapping is removed.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(optimizer)
            optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(optimizer)
            optimizer = optimizer
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(optimizer)
            train(model, optimizer)
            optimizer = torch.optim.Adam(other.parameters())
            optimizer = hvd.DistributedOptimizer(optimizer)
            """,
            reason="the variable holds a different optimizer by then",
        ),
    ),
)
