"""Which optimizers become hvd.DistributedOptimizer, and why the others do not.

HVD401 carries it out. HVD415 lets the hooks of one rest before the next is made, and HVD905 refuses a program
of DDP's in which an optimizer stays plain.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from enum import Enum

from hvdkit.dataclass import dataclass
from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.other_parallelism import other_parallelism
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.reduction_names import (
    made_again,
    may_share_names,
    name_prefix,
    named_alike,
    numbered,
    prefix,
)
from hvdkit.migrate.facts.optimizers.shared_parameters import shares_parameters
from hvdkit.migrate.facts.optimizers.was_averaged import never_averaged, was_averaged
from hvdkit.migrate.facts.optimizers.wrap_places import WrapPlace, wrap_places
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import migrates, programs_with
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.plan import Made, Obstacle
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

APART = (
    "where all ranks should hold the same weights, wrap it in DistributedDataParallel and run "
    "hvdkit migrate again; where each rank holds a part of one layer, keep torch.distributed"
)

SHARED = (
    "let one optimizer hold each parameter, or average by hand after each backward() and leave the "
    "optimizers unwrapped: hvd.allreduce_(p.grad, op=hvd.Average) for each gradient"
)


class Verdict(Enum):
    """What becomes of an optimizer: LEFT to the person, since others average and it never did."""

    WRAPPED = "wrapped"
    LEFT = "left"
    REFUSED = "refused"


@dataclass(frozen=True)
class Decision:
    """What becomes of the optimizer that is made at one place. made: for WRAPPED, what came of its edits.

    message: one sentence on why. advice: what to write, where it is not wrapped.
    """

    place: WrapPlace
    verdict: Verdict
    message: str
    advice: str = ""
    made: Made = ()

    @property
    def obstacle(self) -> Obstacle | None:
        """What keeps an optimizer that is to be wrapped from it."""
        return self.made if isinstance(self.made, Obstacle) else None

    @property
    def wrapped(self) -> bool:
        """Whether it becomes a DistributedOptimizer."""
        return self.verdict is Verdict.WRAPPED and self.obstacle is None


@once
def optimizer_wraps(facts: Facts) -> list[Decision]:
    """What becomes of every optimizer that a program of several processes, or one to be, makes."""
    return list(_decided(facts))


def _decided(facts: Facts) -> Iterator[Decision]:
    places = [place for place in wrap_places(facts) if migrates(facts, place.names)]
    averaged = {place.call for place in places if was_averaged(facts, place)}
    for place in places:
        mates = [other for other in places if _same_program(facts, place.names, other.names)]
        if place.call in averaged:
            yield _refusal(facts, place, was=True) or _wrap(facts, place, mates)
        elif refusal := _refusal(facts, place, was=False):
            yield refusal
        elif any(other.call in averaged for other in mates):
            message = "this optimizer's model is not wrapped in DDP: its gradients are not averaged today"
            advice = "wrap it in hvd.DistributedOptimizer if the ranks should agree; otherwise leave it"
            yield Decision(place, Verdict.LEFT, message, advice)
        elif not any(
            _same_program(facts, place.names, use.names) for use in other_parallelism(facts)
        ):  # else HVD901 says it
            message = "no model that this optimizer trains was found to be wrapped in DDP"
            advice = "pass the same variable to the optimizer and to DDP, or wrap this one by hand"
            yield Decision(place, Verdict.REFUSED, message, advice)


def _refusal(facts: Facts, place: WrapPlace, was: bool) -> Decision | None:
    """Why Horovod cannot take an optimizer. was: whether its gradients were averaged."""
    if was and (apart := never_averaged(facts, place)):
        message = (
            f"this optimizer trains {apart}, too, which DDP does not wrap: each rank keeps its own gradients "
            "of it, and Horovod's optimizer averages everything that it is given"
        )
        return Decision(place, Verdict.REFUSED, message, APART)
    if other := _no_optimizer(facts, place):
        message = (
            f"on one path this is an object of {other}, which is not a torch optimizer: Horovod cannot wrap "
            "it"
        )
        advice = f"put hvd.DistributedOptimizer around the optimizers where they are created, inside {other}"
        return Decision(place, Verdict.REFUSED, message, advice)
    if shared := shares_parameters(facts, place):
        model, mate = shared
        message = (
            f"this optimizer and {mate.target} (line {mate.names.line(mate.call)}) both hold the parameters "
            f"of {model}: each wrapped optimizer would reduce every gradient of them, although the other has "
            "already averaged it, or block"
        )
        return Decision(place, Verdict.REFUSED, message, SHARED)
    return None


def _wrap(facts: Facts, place: WrapPlace, mates: Sequence[WrapPlace]) -> Decision:
    message = "the optimizer averages the gradients over all ranks before each step"
    meeting = [other for other in mates if _meet(facts, place, other)]
    return Decision(place, Verdict.WRAPPED, message, made=edits.attempt(_edits, facts, place, meeting))


def _no_optimizer(facts: Facts, place: WrapPlace) -> str:
    """The class of the project's own, with a step() but no optimizer's, that a function gives as well."""
    for value in facts.flow.values(place.names, place.call):
        if value.kind == "class" or value in {optimizer.value for optimizer in place.optimizers}:
            continue
        if isinstance(value.node, ast.ClassDef) and facts.flow.methods(value, "step"):
            if not any(words.is_optimizer(base) for base in facts.flow.bases(value)):
                return value.name
    return ""


def _same_program(facts: Facts, one: Names, other: Names) -> bool:
    return any(other in program.files for program in programs_with(facts, one))


def _meet(facts: Facts, one: WrapPlace, other: WrapPlace) -> bool:
    """Whether one run may make both: not where one script trains, and another takes functions from it."""
    runs, others = (
        {
            program.entry
            for program in programs_with(facts, place.names)
            if runs_in(facts, program, place.names, place.call)
        }
        for place in (one, other)
    )
    return not runs or not others or bool(runs & others)


def _edits(facts: Facts, place: WrapPlace, mates: list[WrapPlace]) -> list[Edit]:
    several = any(may_share_names(place, other) for other in mates)
    if facts.options.target == "horovod" and any(named_alike(place, other) for other in mates):
        raise edits.CannotEdit(
            f"a second {place.target} is created, and their gradients would have the same names"
        )
    source = place.names.source
    wrapper = f"{horovod_name(facts, place.names)}.DistributedOptimizer"
    extra = _naming(facts, place, mates, several)
    if facts.options.target == "horovod" and made_again(facts, place, several):
        raise edits.CannotEdit("several optimizers created here would give their gradients the same names")
    if place.target is not None:
        line = f"{place.target} = {wrapper}({place.target}{extra})"
        return [edits.after(source, place.statement, [line])]
    return edits.wrap(source, place.call, f"{wrapper}(", f"{extra})")


def _naming(facts: Facts, place: WrapPlace, mates: list[WrapPlace], several: bool) -> str:
    """The argument that names the parameters: Horovod reduces by name, so no two optimizers may share one."""
    models, target = place.models, place.target
    if facts.options.target == "hvdkit":
        if models is None:
            return ""
        every = ", ".join(f'"{prefix(model)}": {model}' for model in models)
        return f", {models[0]}" if len(models) == 1 else f", {{{every}}}"
    head, counted = name_prefix(place, mates), numbered(place)
    number, formatted = (f".{{len({counted})}}", "f") if counted else ("", "")
    if models is not None and len(models) == 1:
        named = f'prefix={formatted}"{head}{prefix(models[0])}{number}"' if several or head or number else ""
        return f", named_parameters={models[0]}.named_parameters({named})"
    if models is not None:
        every = ", ".join(
            f'*{model}.named_parameters(prefix={formatted}"{head}{prefix(model)}{number}")'
            for model in models
        )
        return f", named_parameters=[{every}]"
    if not several and not counted:
        return ""
    if target is None:
        raise edits.CannotEdit(
            "several optimizers need names for their parameters, and this one has no variable"
        )
    group = f'p for group in {target}.param_groups for p in group["params"]'
    return f', named_parameters=[(f"{prefix(target)}{number}.{{i}}", p) for i, p in enumerate({group})]'
