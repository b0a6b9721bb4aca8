"""HVD007: synchronize() and skip_synchronize(), which DDP does not need."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.edits.unnesting import drop_item
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.coverage.through_ddp import written_wraps
from hvdkit.migrate.facts.models.optimizers import every_optimizer
from hvdkit.migrate.facts.optimizers.averaged_before_steps import averaged_before_steps
from hvdkit.migrate.facts.optimizers.horovod_wraps import called
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import Names

CLIPS = ("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_", "torch.nn.utils.clip_grad_norm")
ADVICE = "remove it: DDP averages the gradients in backward()"


def check(facts: Facts) -> Iterator[Finding]:
    if not (written_wraps(facts) or called(facts, "init", modules=words.HOROVOD)):
        return
    if written_wraps(facts) or not averaged_before_steps(facts):
        yield from _synchronized(facts)
    if not facts.methods("synchronize"):
        yield from _not_synchronized(facts)
    for names, call, _ in facts.methods("set_backward_passes_per_step"):
        yield _gone(facts, names, call, "the gradients of all passes are summed, and averaged")


def _synchronized(facts: Facts) -> Iterator[Finding]:
    """The waits for Horovod's averages; what averages before each step has them, too, and keeps them."""
    keeping = {value for each in averaged_before_steps(facts) for value in each.optimizers}
    known = {optimizer.value for optimizer in every_optimizer(facts)} - keeping
    alike = set()
    for names, call, receiver in facts.methods("skip_synchronize"):
        values = facts.flow.unwrap(facts.flow.values(names, receiver))
        if not keeping or values & known:
            alike.add(ast.dump(receiver))
            yield _without(facts, names, call)
        elif not values & keeping:
            message = "this may be an optimizer that DDP averages for, or one that averages before each step"
            yield manual("HVD007", names, call, message, ADVICE)
    for names, call, receiver in facts.methods("synchronize"):
        values = facts.flow.unwrap(facts.flow.values(names, receiver))
        if not call.args and not values & keeping and (values & known or ast.dump(receiver) in alike):
            yield _gone(facts, names, call, "DDP has averaged the gradients when backward() returns")


def _not_synchronized(facts: Facts) -> Iterator[Finding]:
    """What reads gradients before Horovod has averaged them."""
    for site in facts.calls(*CLIPS) if written_wraps(facts) else ():
        message = "Horovod clips the gradients of each rank here, before it averages them; DDP clips averages"
        yield manual("HVD007", site.names, site.node, message, "check the limit: averages are smaller")
    for names, call, receiver in facts.methods("step") if averaged_before_steps(facts) else ():
        if call.args and any(value.name == words.SCALER for value in facts.flow.values(names, receiver)):
            message = (
                "an overflow on one rank alone skips the step in which the others wait for its gradients"
            )
            advice = "call optimizer.synchronize() above it, and it in `with optimizer.skip_synchronize():`"
            yield manual("HVD007", names, call, message, advice)


def _gone(facts: Facts, names: Names, call: ast.Call, message: str) -> Finding:
    statement = names.statement(call)
    if isinstance(statement, ast.Expr) and statement.value is call:
        return safe(facts, "HVD007", names, call, message, edits.delete, names, statement)
    return manual("HVD007", names, call, message, ADVICE)


def _without(facts: Facts, names: Names, call: ast.Call) -> Finding:
    """The body of `with optimizer.skip_synchronize():` alone."""
    message = "step() of a plain optimizer sends nothing"
    statement = names.parents.get(names.parents[call])
    item = names.parents[call]
    if isinstance(statement, ast.With) and isinstance(item, ast.withitem):
        return safe(facts, "HVD007", names, call, message, drop_item, names, statement, item)
    return manual("HVD007", names, call, message, ADVICE)


RULE = Rule(
    id="HVD007",
    title="synchronize and skip_synchronize",
    what="Removes optimizer.synchronize(), optimizer.skip_synchronize() and set_backward_passes_per_step().",
    why="DDP has averaged the gradients when backward() returns: clipping and GradScaler see the averages.",
    safety="Safe: the same order of averaging, clipping and stepping. Where gradients are clipped without "
    "synchronize(), Horovod clips what each rank computed, and the line is left to you. Calls of an optimizer that "
    "averages before each step (HVD005) stay.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            model = torch.nn.Linear(2, 2)
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            model(torch.ones(1, 2)).sum().backward()
            optimizer.synchronize()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            with optimizer.skip_synchronize():
                optimizer.step()
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model = DDP(model, broadcast_buffers=False)
            model(torch.ones(1, 2)).sum().backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            """,
            target="ddp",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            torch.cuda.synchronize()
            """,
            reason="it waits for a device",
        ),
    ),
)
