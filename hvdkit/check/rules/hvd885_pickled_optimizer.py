"""HVD885: the wrapped optimizer itself goes into a checkpoint."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import HOROVOD, argument, is_wrapped, target
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls("torch.save"):
        given = argument(site.node, 0, "obj")
        for part in [given, *(given.values if isinstance(given, ast.Dict) else [])]:
            if part is not None and target(part) and is_wrapped(facts, site.names, part, HOROVOD):
                message = "the class of a wrapped optimizer cannot be pickled: its state_dict() can"
                yield safe(facts, "HVD885", site.names, part, message, _state, site.names, part)


def _state(names: Names, part: ast.expr) -> Edit:
    end = names.source.end(part)
    if getattr(part, "unplaced", False):
        raise edits.CannotEdit("it is part of an f-string")
    return Edit(end, end, ".state_dict()")


RULE = Rule(
    id="HVD885",
    title="torch.save of a wrapped optimizer",
    what="torch.save raises a PicklingError at the first checkpoint, perhaps after hours.",
    why="Horovod creates the class when the optimizer is wrapped, so pickle cannot find it.",
    safety="Safe: optimizer.state_dict() is saved, which load_state_dict() reads.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            if hvd.rank() == 0:
                torch.save({"model": model.state_dict(), "optimizer": optimizer}, "checkpoint.pt")
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            if hvd.rank() == 0:
                torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "checkpoint.pt")
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
            plain = torch.optim.SGD(model.parameters(), lr=0.1)
            if hvd.rank() == 0:
                torch.save({"model": model, "optimizer": optimizer.state_dict(), "plain": plain}, "checkpoint.pt")
            """,
            reason="torch's own optimizer can be pickled",
        ),
    ),
)
