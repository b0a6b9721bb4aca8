"""HVD834: on a resume, parameters are broadcast before the step that makes the other ranks' state."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import argument, called, number, optimizer_loads
from hvdkit.check.order import between
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import keyword
from hvdkit.migrate.values.value import Value
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

DECAYS = ("torch.optim.AdamW",)  # by default


def check(facts: Facts) -> Iterator[Finding]:
    first = called(facts, "broadcast_parameters", modules=("horovod.torch",))
    for state in called(facts, "broadcast_optimizer_state", modules=("horovod.torch",)):
        given = argument(state.node, 0, "optimizer")
        values = facts.flow.unwrap(facts.flow.values(state.names, given))
        if not _decays(facts, values) or not _loaded_on_rank_0(facts, values):
            continue
        for parameters in first:
            if parameters.names is state.names:
                if between(state.names, parameters.node, state.node) is not None:
                    message = (
                        "the other ranks take a step here to create their state, which decays their weights: "
                        "parameters must be broadcast after it"
                    )
                    yield safe(
                        facts,
                        "HVD834",
                        state.names,
                        state.node,
                        message,
                        _move,
                        state.names,
                        parameters.node,
                        state.node,
                    )


def _decays(facts: Facts, values: frozenset[Value]) -> bool:
    for optimizer in averaging_optimizers(facts):
        if optimizer.value in values:
            said = keyword(optimizer.node, "weight_decay")
            if said is not None and number(said) != 0:
                return True
            if said is None and optimizer.value.name in DECAYS:
                return True
    return False


def _loaded_on_rank_0(facts: Facts, values: frozenset[Value]) -> bool:
    return any(
        facts.flow.unwrap(loaded) & values and where_runs(facts, names, call) is not Where.ALL
        for names, call, loaded in optimizer_loads(facts)
    )


def _move(names: Names, parameters: ast.Call, state: ast.Call) -> list[Edit]:
    moved, below = names.statement(parameters), names.statement(state)
    if not isinstance(moved, ast.Expr):
        raise edits.CannotEdit("it is not a separate statement")
    text = names.source.segment(moved)
    if "\n" in text:
        raise edits.CannotEdit("it spans several lines")
    return [edits.delete(names, moved), edits.after(names.source, below, [text])]


RULE = Rule(
    id="HVD834",
    title="parameters broadcast before the optimizer's state on a resume",
    what=(
        "With weight decay the ranks resume with different weights, by lr * weight_decay of each, and keep "
        "that difference. Only rank 0 resumes from the checkpoint."
    ),
    why=(
        "hvd.broadcast_optimizer_state creates a rank's missing state by a step on zero gradients. Where "
        "only rank 0 has loaded a checkpoint, the others take that step and rank 0 does not."
    ),
    safety="Safe: the parameters are broadcast last, so that what the step did to them is overwritten.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=args.wd)
            optimizer = hvd.DistributedOptimizer(optimizer)
            if args.resume and hvd.rank() == 0:
                optimizer.load_state_dict(torch.load(args.resume))
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            hvd.broadcast_optimizer_state(optimizer, root_rank=0)
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=args.wd)
            optimizer = hvd.DistributedOptimizer(optimizer)
            if args.resume and hvd.rank() == 0:
                optimizer.load_state_dict(torch.load(args.resume))
            hvd.broadcast_optimizer_state(optimizer, root_rank=0)
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
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
            optimizer = hvd.DistributedOptimizer(optimizer)
            if hvd.rank() == 0:
                optimizer.load_state_dict(torch.load("checkpoint"))
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            hvd.broadcast_optimizer_state(optimizer, root_rank=0)
            """,
            reason="without weight decay a step on zero gradients changes no weight",
        ),
    ),
)
