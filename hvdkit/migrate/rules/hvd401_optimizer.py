"""HVD401: the optimizer becomes a DistributedOptimizer, right after it is made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.other_parallelism import other_parallelism
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.shared_parameters import shares_parameters
from hvdkit.migrate.facts.optimizers.was_averaged import never_averaged, was_averaged
from hvdkit.migrate.facts.optimizers.wrap_places import Place, wrap_places
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import migrates, programs_of
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.finding import manual, refused, required
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.reduction_names import (
    made_again,
    may_share_names,
    name_prefix,
    named_alike,
    numbered,
    prefix,
)
from hvdkit.migrate.rule import Change, Keep, Rule
from hvdkit.migrate.values import vocabulary as words

APART = (
    "where all ranks are meant to hold the same weights of it, wrap it in DistributedDataParallel and run hvdkit "
    "migrate again; where each holds a part of one layer, stay with torch.distributed"
)

SHARED = (
    "let one optimizer hold each parameter, or average by hand after each backward() and leave the optimizers plain: "
    "hvd.allreduce_(p.grad, op=hvd.Average) for each gradient"
)


def check(facts: Facts) -> Iterator[Finding]:
    places = [place for place in wrap_places(facts) if migrates(facts, place.names)]
    averaged = {place.call for place in places if was_averaged(facts, place)}
    for place in places:
        mates = [other for other in places if _same_program(facts, place.names, other.names)]
        apart = never_averaged(facts, place) if place.call in averaged else ""
        if apart:
            message = (
                f"this optimizer trains {apart}, too, which DDP does not wrap: each rank has kept its own gradients "
                "of it, and Horovod's optimizer averages all that it is given"
            )
            yield refused("HVD401", place.names, place.call, message, APART)
        elif other := _no_optimizer(facts, place):
            message = f"on one way this is an object of {other}, which is no torch optimizer: Horovod cannot take it"
            advice = (
                f"put hvd.DistributedOptimizer around the optimizers where they are made, and inside {other}"
            )
            yield refused("HVD401", place.names, place.call, message, advice)
        elif shared := shares_parameters(facts, place):
            model, mate = shared
            message = (
                f"this optimizer and {mate.target} (line {mate.names.line(mate.call)}) both hold the parameters of {model}: "
                "each of Horovod's would reduce every gradient of them, one that is averaged already, or wait for it"
            )
            yield refused("HVD401", place.names, place.call, message, SHARED)
        elif place.call in averaged:
            message = "the optimizer averages the gradients over all ranks before each step"
            meeting = [other for other in mates if _meet(facts, place, other)]
            yield required(facts, "HVD401", place.names, place.call, message, _edits, facts, place, meeting)
        elif any(other.call in averaged for other in mates):
            message = "this optimizer's model is not wrapped in DDP: its gradients were never averaged"
            advice = "wrap it in hvd.DistributedOptimizer if its ranks are meant to agree, else leave it"
            yield manual("HVD401", place.names, place.call, message, advice)
        elif not any(
            _same_program(facts, place.names, use.names) for use in other_parallelism(facts)
        ):  # else HVD901 tells it
            message = "no model that this optimizer trains was found to be wrapped in DDP"
            advice = "let the optimizer and DDP get the same variable, or wrap this one by hand"
            yield refused("HVD401", place.names, place.call, message, advice)


def _no_optimizer(facts: Facts, place: Place) -> str:
    """The class of the project's own, with a step() but no optimizer's, that a function gives beside optimizers."""
    for value in facts.flow.values(place.names, place.call):
        if value.kind == "class" or value in {optimizer.value for optimizer in place.optimizers}:
            continue
        if isinstance(value.node, ast.ClassDef) and facts.flow.methods(value, "step"):
            if not any(words.is_optimizer(base) for base in facts.flow.bases(value)):
                return value.name
    return ""


def _same_program(facts: Facts, one: Names, other: Names) -> bool:
    programs = _programs_with(facts)
    return not programs.get(one, frozenset()).isdisjoint(programs.get(other, frozenset()))


@once
def _programs_with(facts: Facts) -> dict[Names, set[int]]:
    """The programs that each file belongs to, by number."""
    found: dict[Names, set[int]] = {}
    for number, program in enumerate(programs_of(facts)):
        for names in program.files:
            found.setdefault(names, set()).add(number)
    return found


def _meet(facts: Facts, one: Place, other: Place) -> bool:
    """Whether one run may make both: not where one script trains, and another takes functions from it."""
    runs, others = (
        {program.entry for program in programs_of(facts) if runs_in(facts, program, place.names, place.call)}
        for place in (one, other)
    )
    return not runs or not others or bool(runs & others)


def _edits(facts: Facts, place: Place, mates: list[Place]) -> list[Edit]:
    several = any(may_share_names(place, other) for other in mates)
    if facts.options.target == "horovod" and any(named_alike(place, other) for other in mates):
        raise edits.CannotEdit(
            f"another {place.target} is made, and their gradients would have the same names"
        )
    source = place.names.source
    wrapper = f"{horovod_name(facts, place.names)}.DistributedOptimizer"
    extra = _naming(facts, place, mates, several)
    if facts.options.target == "horovod" and made_again(facts, place, several):
        raise edits.CannotEdit("several optimizers made here would give their gradients the same names")
    if place.target is not None:
        line = f"{place.target} = {wrapper}({place.target}{extra})"
        return [edits.after(source, place.statement, [line])]
    return edits.wrap(source, place.call, f"{wrapper}(", f"{extra})")


def _naming(facts: Facts, place: Place, mates: list[Place], several: bool) -> str:
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
    ),
)
