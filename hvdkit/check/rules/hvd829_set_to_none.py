"""HVD829: zero_grad(set_to_none=...) of a wrapped optimizer."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import HOROVOD, is_wrapped
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    for names, call, receiver in facts.methods("zero_grad"):
        said = next((keyword for keyword in call.keywords if keyword.arg == "set_to_none"), None)
        if said is not None and is_wrapped(facts, names, receiver, HOROVOD):
            message = "the wrapped optimizer's zero_grad() accepts no argument: TypeError"
            yield safe(facts, "HVD829", names, call, message, edits.drop_argument, names.source, call, said)


RULE = Rule(
    id="HVD829",
    title="zero_grad(set_to_none=...) on a wrapped optimizer",
    what='It raises TypeError: "zero_grad() got an unexpected keyword argument".',
    why="Horovod's optimizer has its own zero_grad(), which accepts no arguments.",
    safety=(
        "Safe: the argument is removed. From PyTorch 2.0 on, zero_grad() sets gradients to None anyway, and "
        "zeros instead of None make no difference to a step."
    ),
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            optimizer.zero_grad(set_to_none=True)
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            optimizer.zero_grad()
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
            plain = torch.optim.SGD(other.parameters(), lr=0.1)
            plain.zero_grad(set_to_none=True)
            model.zero_grad(set_to_none=True)
            """,
            reason="neither torch's own optimizer nor a model is Horovod's",
        ),
    ),
)
