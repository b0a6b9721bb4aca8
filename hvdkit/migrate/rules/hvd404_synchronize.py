"""HVD404: gradients that are looked at before the step are reduced right after backward, as DDP has them."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, refused, required
from hvdkit.migrate.catalog.rule import AverageAfter, Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.engines import more_than_steps
from hvdkit.migrate.facts.models.repeated_passes import runs_repeatedly
from hvdkit.migrate.facts.models.step_groups import Group, Step
from hvdkit.migrate.facts.models.syncing import steps_unreduced
from hvdkit.migrate.facts.optimizers.gradient_waits import (
    is_awaited,
    looked_at_before,
    reduced_above,
    reduced_below,
    skips,
    waiting_place,
)
from hvdkit.migrate.facts.optimizers.one_of_several_steps import steps_one_of_several
from hvdkit.migrate.facts.optimizers.steps import steps_of
from hvdkit.migrate.facts.optimizers.unfollowed_steps import unfollowed_steps
from hvdkit.migrate.facts.optimizers.written_optimizers import plain_target
from hvdkit.migrate.facts.programs.programs import kinds_of, migrates
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.waiting import wait_after, wait_before
from hvdkit.source.edits import Edit

UNFOLLOWED = (
    "gradients are read before this step of an unknown object, and the step of the program's optimizer was "
    "not found: it may be this one, before the averages are ready"
)
MADE_HERE = (
    "give the optimizer to this function in a call that can be followed (not through a name in a registry), "
    "or call optimizer.synchronize() after backward(), and step under optimizer.skip_synchronize()"
)
IN_LIBRARY = (
    "this ignite trainer scales the loss, or steps after several backward passes, inside the library: "
    "nothing can wait there for the averages"
)
OWN_UPDATE = "write the update function, pass it to ignite.engine.Engine, and run hvdkit migrate again"
OWN_STEP = (
    "this step may run under no_sync(): DDP then uses each rank's own gradients, whereas Horovod's optimizer "
    "averages before each of its steps"
)
LAST = "let the last backward pass before the step run outside no_sync()"
SEVERAL = "one function steps several optimizers: whose hooks its backward() runs is not known"
APART = "call backward() and step() of each optimizer where they can be distinguished, as in a GAN"
NEVER_REDUCED = "every backward pass of this step is under no_sync(): DDP never averages its gradients"
TOO_EARLY = "gradients are read here, right after backward(), and the optimizer that has to average them first has no name"
AGAIN = (
    "several backward passes run here before the caller can wait for the first one's gradients, which "
    "Horovod's hooks reject, and the optimizer has no name"
)
WAIT_THERE = "pass the optimizer to this function, too, and call its synchronize() after each backward()"
NAME_IT = "pass the optimizer to this function, too, or read the gradients in its caller"


def check(facts: Facts) -> Iterator[Finding]:
    for group in steps_of(facts).groups:
        step = group.steps[0]
        windows = [each for each in group.steps if steps_unreduced(each.names, each.call)]
        if steps_one_of_several(facts, group):
            if migrates(facts, step.names):
                yield refused("HVD404", step.names, step.call, SEVERAL, APART)
        elif group.unreduced:
            if "ddp" in kinds_of(facts, step.names):
                yield refused("HVD404", step.names, step.call, NEVER_REDUCED, LAST)
        elif windows and "ddp" in kinds_of(facts, windows[0].names):
            yield refused("HVD404", windows[0].names, windows[0].call, OWN_STEP, LAST)
        elif group.reason and is_awaited(facts, group):
            yield from _awaited(facts, group)
        elif group.reason and not all(skips(each.names, each.call) for each in group.steps):
            if migrates(facts, step.names):
                name = plain_target(step) or "optimizer"
                message = f"{group.reason}, and the backward pass that makes them was not found"
                advice = (
                    f"call {name}.synchronize() after backward(), and step under {name}.skip_synchronize()"
                )
                yield refused("HVD404", step.names, step.call, message, advice)
    for names, call in more_than_steps(facts):
        if migrates(facts, names):
            yield refused("HVD404", names, call, IN_LIBRARY, OWN_UPDATE)
    for names, call in unfollowed_steps(facts):
        yield refused("HVD404", names, call, UNFOLLOWED, MADE_HERE)


def _awaited(facts: Facts, group: Group) -> Iterator[Finding]:
    """The averages waited for where DDP has them, and the steps that do not reduce them again."""
    for backward in group.reduce_after:
        names, call = waiting_place(facts, backward, group)
        if migrates(facts, names):
            looks = looked_at_before(facts, backward) if call is not backward.call else None
            if looks is not None:
                yield refused("HVD404", backward.names, looks, TOO_EARLY, NAME_IT)
            if call is not backward.call and runs_repeatedly(backward, group.reduce_after):
                tell = manual if _waits_beside(facts, group) else refused
                yield tell("HVD404", backward.names, backward.call, AGAIN, WAIT_THERE)
            if not reduced_below(facts, names, call, group):
                message = f"{group.reason}: every rank waits here until they are averaged, as DDP does"
                yield required(facts, "HVD404", names, call, message, wait_after, facts, names, call, group)
    for names, statement in group.reduce_before:
        if migrates(facts, names) and not reduced_above(facts, names, statement, group):
            message = f"{group.reason}: every rank waits here until they are averaged"
            make = (wait_before, facts, names, statement, group)
            yield required(facts, "HVD404", names, statement, message, *make)
    for step in group.steps if facts.options.target == "horovod" else ():
        if migrates(facts, step.names) and not skips(step.names, step.call):
            message = "the gradients are reduced already, so the step does not reduce them again"
            yield required(facts, "HVD404", step.names, step.call, message, _skip, step)


def _waits_beside(facts: Facts, group: Group) -> bool:
    """Whether another pass for these steps is waited for beside it: the rest belongs to an option."""
    return any(waiting_place(facts, other, group)[1] is other.call for other in group.reduce_after)


def _skip(step: Step) -> list[Edit]:
    statement = step.names.statement(step.call)
    name = plain_target(step)
    if name is None:
        raise edits.CannotEdit("the optimizer that steps is not a plain variable or attribute")
    return edits.enclose(step.names.source, [statement], f"with {name}.skip_synchronize():")


RULE = Rule(
    id="HVD404",
    title="gradients are reduced before they are read",
    what=(
        "Where gradients are clipped, unscaled, read, or accumulated over several backward passes, writes "
        "optimizer.synchronize() after backward() and steps inside optimizer.skip_synchronize()."
    ),
    why=(
        "DDP has averaged the gradients when backward() returns, Horovod only in step(). Clipping or a "
        "GradScaler in between would see the gradients of one rank, partly reduced; an overflow on one rank "
        "would make that rank alone skip its step."
    ),
    safety=(
        "Safe: the average is ready where DDP has it ready, so all later code sees the same numbers. With "
        "two ranks in float32 the weights are bit-identical. Gradients that accumulate over several "
        "backward passes are averaged at each of them, as DDP does without no_sync()."
    ),
    check=check,
    average_after=AverageAfter.REFUSED,
    changes=(
        Change(
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                optimizer.zero_grad()
                model(x).sum().backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            """,
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.synchronize()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                with optimizer.skip_synchronize():
                    optimizer.step()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            model(x).sum().backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            """,
            reason="the program uses Horovod already; hvdkit does not judge it here",
        ),
    ),
)
