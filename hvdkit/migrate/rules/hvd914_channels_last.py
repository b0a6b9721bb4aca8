"""HVD914: a model in channels_last: Horovod sends memory as it lies, and takes it only where it is contiguous."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.wraps import find_wraps
from hvdkit.migrate.facts.optimizers.after_backward import after_backward
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.programs.programs import migrates
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.index.names import Names

LAYOUTS = {"torch.channels_last", "torch.channels_last_3d"}
MESSAGE = (
    "weights in channels_last are not contiguous: Horovod rejects such a tensor, and the job fails at its "
    "first broadcast or gradient"
)
REMOVE = "leave the model's memory_format as it is"
WRITE = (
    "run hvdkit migrate with --target hvdkit, whose optimizer and broadcast support channels_last; or "
    f"{REMOVE}"
)


def check(facts: Facts) -> Iterator[Finding]:
    averaged = after_backward(facts).files
    for names in facts.files:
        if not migrates(facts, names):
            continue
        literally = names in averaged  # there each gradient is sent as it is, in either target
        if facts.options.target == "hvdkit" and not literally:
            continue
        for call in names.calls.get("to", ()):
            if _asks(facts, names, call) and _of_model(facts, names, call):
                yield manual("HVD914", names, call, MESSAGE, REMOVE if literally else WRITE)


def _asks(facts: Facts, names: Names, call: ast.Call) -> bool:
    layout = keyword(call, "memory_format")
    return any(value.name in LAYOUTS for value in facts.flow.values(names, layout))


def _of_model(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether it is a model that is trained; batches, and models that are only run, are not sent."""
    if not isinstance(call.func, ast.Attribute):
        return False
    models = facts.flow.unwrap(facts.flow.values(names, call.func.value))
    stepped = any(models & optimizer.models for optimizer in averaging_optimizers(facts))
    return stepped or any(models & wrap.models for wrap in find_wraps(facts))  # its optimizer may be unknown


RULE = Rule(
    id="HVD914",
    title="models in channels_last are reported",
    what="Marks model.to(memory_format=torch.channels_last) where plain Horovod would get the weights' gradients.",
    why=(
        "A gradient has the layout of its weight. Horovod raises `Tensor is required to be contiguous` for "
        "it; hvdkit.torch sends such tensors as contiguous copies and writes the result back. DDP accepts "
        "either."
    ),
    safety="Nothing is edited; the marker is for you.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch

            model = torch.nn.Conv2d(3, 4, 2)
            model = model.to(memory_format=torch.channels_last)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            optimizer.step()
            """,
            reason="its weights are not contiguous, and Horovod rejects such gradients",
            reported=True,
        ),
        Keep(
            """\
            import torch

            model = torch.nn.Conv2d(3, 4, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in loader:
                x = x.to(memory_format=torch.channels_last)
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="a batch is not reduced, and gradients have the layout of the weights",
        ),
    ),
)
