"""HVD836: the ranks begin with different weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import BROADCASTS, Wrapped, calls_in, mentioned, programs, target, wraps
from hvdkit.check.paper import objected
from hvdkit.conditions.weights import unlike_weights
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.training_loaders import seeds
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit

# What gives every rank the same weights without a broadcast, or may.
LOADS = (
    "load_state_dict",
    "pretrained",
    "torch.load",
    "elastic",
    "load_weights",
    "seed_everything",
    "set_seed",
)


def check(facts: Facts) -> Iterator[Finding]:
    seen: set[ast.AST] = set()
    for program in programs(facts):
        found = [*_never_broadcast(facts, program)]
        yield from found
        for names, node, message in () if found else objected(facts, program, unlike_weights):
            if node not in seen:
                seen.add(node)
                advice = "call hvd.broadcast_parameters(model.state_dict(), root_rank=0) below, on every rank"
                yield manual("HVD836", names, node, message, advice)


def _never_broadcast(facts: Facts, program: ProgramFacts) -> Iterator[Finding]:
    """The optimizers of a program that nowhere makes weights the same."""
    if calls_in(facts, program, *BROADCASTS, "broadcast_async_", "broadcast_async"):
        return
    if mentioned(program, *LOADS) or any(not by_rank for _, _, by_rank in seeds(facts, program)):
        return
    for wrap in wraps(facts):
        if wrap.names in program.files and wrap.optimizers & {o.value for o in averaging_optimizers(facts)}:
            message = (
                "no broadcast, no common seed: the ranks start from different weights and never synchronize"
            )
            yield safe(facts, "HVD836", wrap.names, wrap.node, message, _broadcast, facts, wrap)


def _broadcast(facts: Facts, wrap: Wrapped) -> Edit:
    mine = [optimizer for optimizer in averaging_optimizers(facts) if optimizer.value in wrap.optimizers]
    roots = [root for optimizer in mine for root in optimizer.roots]
    if len(roots) != 1 or roots[0][0] is not wrap.names or not target(roots[0][1]):
        raise edits.CannotEdit("the model has no single name here")
    names, model = roots[0]
    if names.function(model) is not names.function(wrap.node):
        raise edits.CannotEdit("the model has no name here")
    text = f"{horovod_name(facts, names)}.broadcast_parameters({names.source.segment(model)}.state_dict(), root_rank=0)"
    return edits.after(names.source, names.statement(wrap.node), [text])


RULE = Rule(
    id="HVD836",
    title="the initial weights are not broadcast",
    what=(
        "Gradients of unrelated models are averaged. The loss falls more slowly than it should; rank "
        "0's model is not the one that was trained."
    ),
    why="each process draws its own initial weights, and Horovod averages gradients, never weights.",
    safety="Safe: rank 0's weights are sent to all. A program that loads weights, or sets one seed, is left alone.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            torch.manual_seed(42)
            model = torch.nn.Linear(2, 2)
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            """,
            reason="one seed gives every rank the same weights",
        ),
    ),
)
