"""HVD837: one rank loads the state of an optimizer, a schedule or a scaler, and the others never get it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import BROADCASTS, calls_in, mentioned, optimizer_loads, programs, wraps
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

SENDS = ("broadcast_optimizer_state", "broadcast_object", "broadcast_object_fn", "broadcast_", "broadcast")
SCHEDULE = "schedule: the ranks continue with different learning rates"
SCALER = "gradient scaler: the average is of gradients with different scales"
# What makes a thing whose state is more than the optimizer's -> what comes of it when ranks differ in it.
KEPT = {
    "torch.optim.lr_scheduler.": SCHEDULE,
    "transformers.get_": SCHEDULE,
    "torch.amp.": SCALER,
}
PLATEAU = "torch.optim.lr_scheduler.ReduceLROnPlateau"


def check(facts: Facts) -> Iterator[Finding]:
    for program in programs(facts):
        wrapped = frozenset().union(*(w.optimizers for w in wraps(facts) if w.names in program.files))
        if not wrapped or mentioned(program, "elastic"):
            continue
        sent = calls_in(facts, program, *SENDS)
        for names, call, values in optimizer_loads(facts) if not sent else ():
            if names in program.files and facts.flow.unwrap(values) & wrapped:
                if where_runs(facts, names, call) is not Where.ALL:
                    message = "only one rank loads the optimizer's state: the same gradients move its weights differently"
                    advice = (
                        "below, on every rank: hvd.broadcast_optimizer_state(optimizer, root_rank=0), then "
                        "hvd.broadcast_parameters(model.state_dict(), root_rank=0)"
                    )
                    yield manual("HVD837", names, call, message, advice)
        for names, call, receiver, what in _kept(facts, program):
            text = names.source.segment(receiver)
            message = f"only one rank loads the state of this {what}"
            advice = (
                f"below, on every rank: {text}.load_state_dict(hvd.broadcast_object({text}.state_dict(), "
                "root_rank=0))"
            )
            yield manual("HVD837", names, call, message, advice)


def _kept(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Names, ast.Call, ast.expr, str]]:
    """The loads of a schedule's or scaler's state that only one rank reaches, although all ranks use it."""
    loads = [load for load in facts.methods("load_state_dict") if load[0] in program.files]
    for names, call, receiver in loads:
        values = facts.flow.values(names, receiver)
        what = {text for name, text in KEPT.items() for value in values if value.name.startswith(name)}
        if not what or where_runs(facts, names, call) is Where.ALL:
            continue
        everywhere = any(
            values & facts.flow.values(where, other) and where_runs(facts, where, load) is Where.ALL
            for where, load, other in loads
        )
        if not everywhere and _used_alike(facts, program, values) and not _sent(facts, program, values):
            yield names, call, receiver, what.pop()


def _used_alike(facts: Facts, program: ProgramFacts, values: frozenset[Value]) -> bool:
    """Whether every rank steps by it, and a schedule is not told where it stands: `step(epoch)`."""
    steps = [
        (names, call)
        for names, call, receiver in facts.methods("step")
        if names in program.files and values & facts.flow.values(names, receiver)
    ]
    told = any(call.args for _, call in steps) and any(_counts_epochs(value) for value in values)
    return not told and any(where_runs(facts, *step) is Where.ALL for step in steps)


def _counts_epochs(value: Value) -> bool:
    return any(value.name.startswith(name) for name, text in KEPT.items() if text == SCHEDULE) and (
        value.name != PLATEAU
    )


def _sent(facts: Facts, program: ProgramFacts, values: frozenset[Value]) -> bool:
    """Whether its state may be given to a broadcast, or be set by hand."""
    given = [(site.names, part) for site in calls_in(facts, program, *BROADCASTS) for part in site.node.args]
    return any(_reads(facts, names, argument, values, set()) for names, argument in given) or any(
        isinstance(part.ctx, ast.Store) and values & facts.flow.values(names, part.value)
        for names in program.files
        for part in names.of_kind(ast.Attribute)
    )


def _reads(facts: Facts, names: Names, node: ast.AST, values: frozenset[Value], seen: set[ast.AST]) -> bool:
    """Whether an expression, or what its variables are assigned, names one of these objects."""
    for part in ast.walk(node):
        if not isinstance(part, (ast.Name, ast.Attribute)) or not isinstance(part.ctx, ast.Load):
            continue
        if values & facts.flow.values(names, part):
            return True
        for binding in names.bindings(part.id, part) if isinstance(part, ast.Name) else ():
            if binding.value is not None and binding.value not in seen:
                seen.add(binding.value)
                if _reads(facts, names, binding.value, values, seen):
                    return True
    return False


RULE = Rule(
    id="HVD837",
    title="state loaded on one rank and not broadcast",
    what=(
        "The first step after a resume moves rank 0 by its momenta and the others without; a schedule that "
        "starts over on the others gives them different learning rates, a gradient scaler a different "
        "scale: their weights diverge."
    ),
    why=(
        "Horovod averages gradients; how an optimizer applies them depends on its own state and its "
        "schedule's. broadcast_optimizer_state() sends only the optimizer's."
    ),
    safety="Nothing is edited: the broadcast has to come after the load, where every rank runs it.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.Adam(model.parameters())
            optimizer = hvd.DistributedOptimizer(optimizer)
            if hvd.rank() == 0:
                optimizer.load_state_dict(torch.load("checkpoint"))
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            """,
            reason="the parameters are sent, the momenta are not",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.Adam(model.parameters())
            optimizer = hvd.DistributedOptimizer(optimizer)
            if hvd.rank() == 0:
                optimizer.load_state_dict(torch.load("checkpoint"))
            hvd.broadcast_optimizer_state(optimizer, root_rank=0)
            """,
            reason="the state is sent",
        ),
    ),
)
