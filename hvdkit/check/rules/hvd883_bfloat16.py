"""HVD883: parameters in bfloat16, which Horovod for PyTorch cannot send."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import wrapped_models, wraps
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    mine = [w for w in wraps(facts) if w.value.name == "horovod.torch.DistributedOptimizer"]
    trained = frozenset().union(
        *(wrapped_models(facts, wrap) for wrap in mine if not keyword(wrap.node, "compression"))
    )
    for names, call, receiver in _casts(facts):
        if facts.flow.unwrap(facts.flow.values(names, receiver)) & trained:
            message = (
                "bfloat16 gradients cannot be reduced: Tensor type torch.BFloat16Tensor is not supported"
            )
            advice = "train float32 parameters under torch.autocast(device_type, dtype=torch.bfloat16)"
            yield manual("HVD883", names, call, message, advice)


def _casts(facts: Facts) -> Iterator[tuple[Names, ast.Call, ast.expr]]:
    """`model.bfloat16()` and `model.to(torch.bfloat16)`."""
    for names, call, receiver in facts.methods("bfloat16"):
        if not call.args:
            yield names, call, receiver
    for names, call, receiver in facts.methods("to"):
        given = [*call.args, *(k.value for k in call.keywords)]
        if any("torch.bfloat16" in names.qualified(part) for part in given):
            yield names, call, receiver


RULE = Rule(
    id="HVD883",
    title="a model in bfloat16",
    what='The first reduction raises "Tensor type torch.BFloat16Tensor is not supported".',
    why="Horovod 0.28 for PyTorch supports float16, float32 and float64.",
    safety="Nothing is edited: autocast keeps the parameters, and so the gradients, in float32.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            model = torch.nn.Linear(2, 2).bfloat16()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            """,
            reason="the parameters are in bfloat16",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            model = torch.nn.Linear(2, 2)
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            with torch.autocast("cpu", dtype=torch.bfloat16):
                model(x.to(torch.bfloat16))
            """,
            reason="only the computation is in bfloat16",
        ),
    ),
)
