"""HVD906: parameters that are frozen, or not there, when the optimizer is wrapped are never averaged."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual, refused
from hvdkit.migrate.catalog.rule import AverageAfter, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.freezing import Switch, switches
from hvdkit.migrate.facts.models.wraps import STAND_STILL, find_wraps
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.wrap_order import above_wrap, late_groups, made_anew_below
from hvdkit.migrate.facts.optimizers.wrap_places import wrap_places
from hvdkit.migrate.facts.programs.programs import kinds_of, migrates, programs_of, programs_with
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    if facts.options.target == "hvdkit":
        return  # its optimizer covers parameters that are unfrozen later
    yield from _groups(facts)
    found = [switch for switch in switches(facts) if migrates(facts, switch.names)]
    yield from _frozen_late(facts, found)
    frozen = [s for s in found if s.value is not True and not s.training and _before(facts, s)]
    alone = [
        optimizer.models
        for optimizer in averaging_optimizers(facts)
        if "single" in kinds_of(facts, optimizer.names)
    ]
    wrapped = frozenset().union(*(wrap.models for wrap in find_wraps(facts)), *alone)
    for late in found:
        if late.value is False or not (late.training or _after(facts, late)):
            continue
        if made_anew_below(facts, late.names, late.at):
            continue  # and is wrapped again, with hooks on what is trained from there on
        before = next((s for s in frozen if _same(s, late, wrapped) and _meet(facts, s, late)), None)
        if before is not None:
            message = (
                "these parameters are frozen when the optimizer is wrapped "
                f"({before.names.place(before.at)}) and trained later: Horovod gives them no hooks"
            )
            advice = (
                "migrate with --target hvdkit, whose optimizer covers them; or wrap the optimizer while "
                "everything that it will ever train has requires_grad=True, freeze after that, and while it "
                "is frozen " + STAND_STILL.format("does not require one")
            )
            yield refused("HVD906", late.names, late.at, message, advice)


def _frozen_late(facts: Facts, found: list[Switch]) -> Iterator[Finding]:
    """Parameters that a training freezes for good: Horovod gives those without a gradient one of zeros."""
    for switch in found:
        thawed = any(
            other.value is True and other.training and _same(switch, other, switch.models) for other in found
        )
        if switch.value is True or not switch.training or thawed or not switch.models:
            continue
        moved = [
            o
            for o in averaging_optimizers(facts)
            if o.models & switch.models and not _plain_descent(o.names, o.node)
        ]
        if moved:
            place = moved[0].names.place(moved[0].node)
            message = (
                "these parameters may be frozen while the program trains: Horovod gives them zero "
                f"gradients, and the optimizer of {place} keeps moving them"
            )
            advice = STAND_STILL.format("does not require one")
            yield manual("HVD906", switch.names, switch.at, message, advice)


def _plain_descent(names: Names, call: ast.Call) -> bool:
    """Whether an optimizer moves nothing by a gradient of zero: SGD without momentum and weight decay."""
    plain = {item.arg for item in call.keywords} <= {"params", "lr"} and len(call.args) <= 2
    return plain and "torch.optim.SGD" in names.qualified(call.func)


def _groups(facts: Facts) -> Iterator[Finding]:
    for place, names, call in late_groups(facts):
        if migrates(facts, place.names):
            message = (
                "this group joins the optimizer after it is wrapped "
                f"({place.names.place(place.statement)}): Horovod gives its parameters no hooks"
            )
            advice = (
                "migrate with --target hvdkit, whose optimizer covers them; or pass the optimizer all "
                "groups where it is created"
            )
            yield refused("HVD906", names, call, message, advice)


def _before(facts: Facts, switch: Switch) -> bool:
    """Whether a switch may run above a wrap: what is frozen later has its hooks by then."""
    if _after(facts, switch):
        return False
    together = [program.files for program in programs_with(facts, switch.names)]
    places = [place for place in wrap_places(facts) if any(place.names in files for files in together)]
    orders = [above_wrap(facts, place, switch.names, switch.at) for place in places]
    return not orders or any(True in order or not order for order in orders)


def _after(facts: Facts, switch: Switch) -> bool:
    """Whether a switch stands below an optimizer's construction in the same function."""
    function = switch.names.function(switch.at)
    return any(
        optimizer.names is switch.names
        and optimizer.names.function(optimizer.node) is function
        and optimizer.node.lineno < switch.at.lineno
        for optimizer in averaging_optimizers(facts)
    )


def _meet(facts: Facts, first: Switch, second: Switch) -> bool:
    """Whether one program may run both switches."""
    return any(
        runs_in(facts, program, first.names, first.at) and runs_in(facts, program, second.names, second.at)
        for program in programs_of(facts)
    )


def _same(first: Switch, second: Switch, wrapped: frozenset[Value]) -> bool:
    """Whether two switches may be about the same parameters; one that is unknown may be about DDP's models."""
    if first.models and second.models:
        return bool(first.models & second.models)
    return bool((first.models or second.models) & wrapped)


RULE = Rule(
    id="HVD906",
    title="parameters added after the wrap are refused",
    what=(
        "Leaves alone a program that freezes parameters before its optimizer is created and unfreezes them "
        "during training (as StyleGAN2-ADA does, and every recipe that unfreezes a backbone after some "
        "epochs), or that adds a group of parameters to its optimizer later."
    ),
    why=(
        "Horovod looks at requires_grad when the optimizer is wrapped, DDP when it is built. Parameters "
        "that are frozen or missing then are never reduced: the ranks' weights diverge without any error. A "
        "program that builds DDP first and freezes afterwards is correct."
    ),
    safety=(
        "Nothing is edited in any file of the program. With --target hvdkit such programs are migrated. "
        "Parameters that are frozen during training, and never unfrozen, are reported: they get zero "
        "gradients, and momentum, weight decay or Adam keep moving them."
    ),
    check=check,
    average_after=AverageAfter.REFUSED,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch

            body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
            model = torch.nn.Sequential(body, head)
            optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1, momentum=0.9)
            for epoch in range(9):
                for p in body.parameters():
                    p.requires_grad = epoch < 3
                for x in batches:
                    optimizer.zero_grad()
                    model(x).sum().backward()
                    optimizer.step()
            """,
            reason="without a gradient the body would not change; with a zero gradient momentum keeps moving it",
            reported=True,
        ),
        Keep(
            """\
            import torch

            body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
            model = torch.nn.Sequential(body, head)
            optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
            for epoch in range(9):
                for p in body.parameters():
                    p.requires_grad = epoch < 3
                for x in batches:
                    optimizer.zero_grad()
                    model(x).sum().backward()
                    optimizer.step()
            """,
            reason="a zero gradient moves nothing",
        ),
    ),
)
