"""HVD833: the wrapped optimizer is thrown away or left aside, and torch's own steps."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import WRAPPED, argument, called, discarded, programs, target, wraps
from hvdkit.check.order import always_before
from hvdkit.check.paper import objected
from hvdkit.conditions.hooks import stepped_past
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.optimizers.step_calls import step_calls
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit, Slot
from hvdkit.source.index.names import Names

MESSAGE = "hvd.DistributedOptimizer() returns a new optimizer, which is discarded here"


def check(facts: Facts) -> Iterator[Finding]:
    lost: set[ast.Call] = set()
    for site in called(facts, "DistributedOptimizer"):
        statement = discarded(site.names, site.node)
        given = argument(site.node, 0, "optimizer")
        if statement is None or given is None:
            continue
        lost.add(site.node)
        if target(given):
            text = site.names.source.segment(given)
            yield safe(facts, "HVD833", site.names, site.node, MESSAGE, _assign, site.names, statement, text)
        else:
            advice = "assign it, and step with it"
            yield manual("HVD833", site.names, site.node, MESSAGE, advice)
    yield from _aside(facts, lost)


def _aside(facts: Facts, lost: set[ast.Call]) -> Iterator[Finding]:
    """The steps of an optimizer beside the wrapped one. lost: the wrappers that nothing keeps."""
    advice = "call step() and zero_grad() on what hvd.DistributedOptimizer() returned"
    seen: set[ast.AST] = set()
    for step in step_calls(facts).steps:
        values = facts.flow.values(step.names, step.target)
        if any(value.name in WRAPPED for value in values):
            continue
        for wrap in wraps(facts):
            if wrap.node in lost or wrap.names is not step.names or not wrap.optimizers & values:
                continue
            if always_before(step.names, wrap.node, step.call):
                message = "this is torch's optimizer: the one that Horovod created from it never steps"
                seen.add(step.call)
                yield manual("HVD833", step.names, step.call, message, advice)
    for program in programs(facts):
        for names, node, message in objected(facts, program, stepped_past):
            if node not in seen:
                seen.add(node)
                yield manual("HVD833", names, node, message, advice)


def _assign(names: Names, statement: ast.Expr, text: str) -> Edit:
    start = names.source.start(statement)
    return Edit(start, start, f"{text} = ", Slot.OPENING)


RULE = Rule(
    id="HVD833",
    title="the wrapped optimizer is not the one that steps",
    what=(
        "Nothing waits for the reduction: a step uses gradients of which some are averaged and some are "
        "not, the "
        'ranks diverge, and the second backward() raises "Gradients were computed more than ... times".'
    ),
    why="hvd.DistributedOptimizer returns a new optimizer and leaves the given one unchanged.",
    safety="Safe where the result is discarded: it is assigned to the variable that was passed.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            inner = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(inner) if hvd.size() > 1 else inner
            for x in batches:
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="the wrapped one steps where it exists",
        ),
    ),
)
