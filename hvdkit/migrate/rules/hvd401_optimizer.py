"""HVD401: the optimizer becomes a DistributedOptimizer, right after it is made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.optimizers import Optimizer
from hvdkit.migrate.facts.spelling import spelled
from hvdkit.migrate.facts.wraps import find_wraps
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    wrapped_models = frozenset().union(*(wrap.models for wrap in find_wraps(facts)))
    for optimizer in facts.optimizers:
        kinds = facts.kinds(optimizer.names) & {"ddp", "single"}
        if optimizer.wrapped or not kinds:
            continue
        known = [model for model in optimizer.models if model.kind != "param"]
        if kinds == {"ddp"} and known and wrapped_models and not optimizer.models & wrapped_models:
            message = "this optimizer's model is not wrapped in DDP: its gradients were never averaged"
            advice = "wrap it in hvd.DistributedOptimizer if its ranks are meant to agree, else leave it"
            yield facts.manual("HVD401", optimizer.names, optimizer.node, message, advice)
            continue
        message = "the optimizer averages the gradients over all ranks before each step"
        yield facts.safe("HVD401", optimizer.names, optimizer.node, message, _edits, facts, optimizer)


def _edits(facts: Facts, optimizer: Optimizer) -> list[Edit]:
    names, source, call = optimizer.names, optimizer.names.source, optimizer.node
    hvd = facts.hvd(names)
    model = model_name(facts, optimizer)
    if model is None and sum(1 for other in facts.optimizers if other.names is names) > 1:
        raise edits.CannotEdit(
            "several optimizers need named parameters, and this one's model has no name here"
        )
    extra = "" if model is None else f", named_parameters={model}.named_parameters()"
    if facts.options.target == "hvdkit" and model is not None:
        extra = f", {model}"
    statement = names.statement(call)
    if isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, (ast.Name, ast.Attribute)):
            name = source.segment(target)
            return [edits.after(source, statement, [f"{name} = {hvd}.DistributedOptimizer({name}{extra})"])]
    return edits.wrap(source, call, f"{hvd}.DistributedOptimizer(", f"{extra})")


def model_name(facts: Facts, optimizer: Optimizer) -> str | None:
    """How the optimizer's one model is spelled where the optimizer is made."""
    names = optimizer.names
    scope = names.scope(optimizer.node)
    here = {
        names.source.segment(root)
        for where, root in optimizer.roots
        if where is names and names.scope(root) is scope and isinstance(root, (ast.Name, ast.Attribute))
    }
    if len(here) == 1:
        return here.pop().removesuffix(".module")
    if len(here) > 1:
        return None
    return spelled(facts.flow, names, optimizer.node, optimizer.models) if optimizer.models else None


RULE = Rule(
    id="HVD401",
    title="the optimizer becomes distributed",
    what="Wraps each optimizer in hvd.DistributedOptimizer, with the model's named parameters, where it is made.",
    why="This is where Horovod averages: hooks on every parameter start the reduction during the backward pass.",
    safety=(
        "Safe: gradients are averaged as DDP averages them. Done before schedulers and checkpoints see the "
        "optimizer, since wrapping makes a new object that starts with empty state."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss = model(x).sum()
            loss.backward()
            """,
            """\
            import horovod.torch as hvd
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
            loss = model(x).sum()
            loss.backward()
            """,
        ),
        Change(
            """\
            import torch
            from torch.optim import AdamW as Adam

            def make(net):
                return Adam([p for p in net.parameters() if p.requires_grad], lr=1e-3)

            loss.backward()
            """,
            """\
            import hvdkit.torch as hvd
            import torch
            from torch.optim import AdamW as Adam

            def make(net):
                return hvd.DistributedOptimizer(Adam([p for p in net.parameters() if p.requires_grad], lr=1e-3), net)

            loss.backward()
            """,
            target="hvdkit",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
            loss.backward()
            """,
            reason="a scheduler is not an optimizer",
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            opt = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            loss.backward()
            """,
            reason="it is wrapped already",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            teacher = torch.nn.Linear(2, 1)
            student = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(teacher.parameters(), lr=0.1)
            """,
            reason="the model is not the one that DDP synchronised",
            reported=True,
        ),
    ),
)
