"""HVD004: what is read from a model is read through its wrapper."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.coverage.through_ddp import (
    is_wrapper,
    runs_above_wraps,
    runs_below_wraps,
    written_wraps,
)
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit, Slot
from hvdkit.source.index.names import Names

# What DDP has itself, or passes on with the same meaning.
OWN = frozenset(
    (
        "module",
        "train",
        "eval",
        "training",
        "parameters",
        "zero_grad",
        "no_sync",
        "join",
        "register_comm_hook",
        "forward",
    )
)
# Functions of Python that ask a module for its parts, its class or an attribute that they name.
COUNTS = ("enumerate", "iter", "len", "list", "isinstance", "getattr", "hasattr", "setattr")
# Functions of libraries that keep, copy or draw the module that they are given.
KEEPS = (
    "copy.copy",
    "copy.deepcopy",
    "timm.utils.ModelEma",
    "timm.utils.ModelEmaV2",
    "timm.utils.ModelEmaV3",
    "torch.jit.script",
    "torch.jit.trace",
    "torch.onnx.export",
    "torch.optim.swa_utils.AveragedModel",
    "torch.save",
    "torchinfo.summary",
    "torchsummary.summary",
)


def check(facts: Facts) -> Iterator[Finding]:
    for names, model, why in _asked(facts) if written_wraps(facts) else ():
        wrapped = any(map(is_wrapper, facts.flow.values(names, model)))
        if wrapped and not runs_above_wraps(facts, names, model):
            yield _through(facts, names, model, why)


def _asked(facts: Facts) -> Iterator[tuple[Names, ast.expr, str]]:
    """What is asked for something that a wrapper has not, if it is a model, and why it has not."""
    for names in facts.files:
        for node in names.of_kind(ast.Attribute):
            if node.attr not in OWN:
                yield names, node.value, f"{node.attr} is the model's own"
        for whole in _as_container(names):
            yield names, whole, "the parts are the model's own"
    for site in facts.calls(*KEEPS):
        for part in _given(site.node):
            yield site.names, part, f"{site.name} gets the model"


def _as_container(names: Names) -> Iterator[ast.expr]:
    """What is indexed, counted, iterated, or asked for its class or an attribute."""
    yield from (node.value for node in names.of_kind(ast.Subscript))
    yield from (loop.iter for loop in names.of_kind(ast.For))
    for name in COUNTS:
        for call in names.calls.get(name, ()):
            asked = call.args[1] if len(call.args) > 1 else None
            own = isinstance(asked, ast.Constant) and asked.value in OWN  # getattr(model, "module", model)
            if isinstance(call.func, ast.Name) and call.args and not own:
                yield call.args[0]


def _given(call: ast.Call) -> Iterator[ast.expr]:
    """The arguments of a call, and what is in the dicts and lists that it is given."""
    waiting = [*call.args, *(part.value for part in call.keywords)]
    for part in waiting:
        if isinstance(part, ast.Dict):
            waiting += part.values
        elif isinstance(part, (ast.List, ast.Tuple)):
            waiting += part.elts
        else:
            yield part


def _through(facts: Facts, names: Names, model: ast.expr, message: str) -> Finding:
    """The model behind its wrapper; where it may have none yet, asked for that."""
    wrapped = all(map(is_wrapper, facts.flow.values(names, model))) or runs_below_wraps(facts, names, model)
    make = _behind if wrapped else _perhaps_behind
    return safe(facts, "HVD004", names, model, message, make, names, model)


def _behind(names: Names, model: ast.expr) -> Edit:
    end = names.source.end(model)
    return Edit(end, end, ".module", Slot.CLOSING)


def _perhaps_behind(names: Names, model: ast.expr) -> Edit:
    text = names.source.segment(model)
    return edits.replace(names.source, model, f'getattr({text}, "module", {text})')


RULE = Rule(
    id="HVD004",
    title="Attributes and checkpoints of a model in DDP",
    what="Reads a model's own attributes, its methods and its state through .module of its wrapper.",
    why="The names in the wrapper's state begin with module., so that checkpoints would have different keys, and "
    "a load with strict=False would silently load nothing. Its other attributes raise an error.",
    safety="Safe: the same object. Where the model may not be wrapped yet, getattr() finds it in both cases.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            torch.save(model.state_dict(), "model.pt")
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model = DDP(model, broadcast_buffers=False)
            torch.save(model.module.state_dict(), "model.pt")
            """,
            target="ddp",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 2))
            torch.save(model.state_dict(), "model.pt")
            """,
            reason="its checkpoints have these keys already",
        ),
    ),
)
