"""HVD802: the average of integers is rounded down."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.dtypes import is_integer
from hvdkit.check.horovod import averages, called, short
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, suggested
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values import vocabulary as words


def check(facts: Facts) -> Iterator[Finding]:
    for site in called(facts, "allreduce", "allreduce_", modules=words.HOROVOD):
        call = site.node
        lost = isinstance(site.names.parents.get(call), ast.Expr) and short(site) == "allreduce"
        if (
            lost
            or not call.args
            or not averages(facts, site)
            or not is_integer(facts, site.names, call.args[0])
        ):
            continue
        if not isinstance(call.func, ast.Attribute) or any(k.arg in ("op", "average") for k in call.keywords):
            advice = "reduce with op=hvd.Sum, or convert to float first"
            yield manual("HVD802", site.names, call, "the average of integers is rounded down", advice)
            continue
        hvd = site.names.source.segment(call.func.value)
        message = "the average of integers is rounded down: counts are summed"
        arguments = [f"op={hvd}.Sum"]
        yield suggested(
            facts,
            "HVD802",
            site.names,
            call,
            message,
            edits.add_arguments,
            site.names.source,
            call,
            arguments,
        )


RULE = Rule(
    id="HVD802",
    title="integers are averaged",
    what=(
        "hvd.allreduce averages by default, and rounds the average of integer tensors down: "
        "3 and 4 correct answers become 3."
    ),
    why="the sum is divided by the number of ranks in the tensor's own type.",
    safety=(
        "Suggested: op=hvd.Sum, the usual reduction of a count. The result is then the total, to be divided "
        "by the total number of samples."
    ),
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            correct = torch.tensor(0)
            for output, y in batches:
                correct += (output.argmax(1) == y).sum()
            correct = hvd.allreduce(correct, name="correct")
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            correct = torch.tensor(0)
            for output, y in batches:
                correct += (output.argmax(1) == y).sum()
            correct = hvd.allreduce(correct, name="correct", op=hvd.Sum)
            """,
            suggested=True,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            correct = torch.tensor(0.0)
            for output, y in batches:
                correct += (output.argmax(1) == y).sum()
            correct = hvd.allreduce(correct, name="correct")
            """,
            reason="a float tensor stays one, whatever is added to it",
        ),
    ),
)
