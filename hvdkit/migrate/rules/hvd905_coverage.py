"""HVD905: a program is rewritten only where the optimizer that trains it is found and wrapped."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from hvdkit.migrate.catalog.finding import refused
from hvdkit.migrate.catalog.rule import AverageAfter, Keep, Rule
from hvdkit.migrate.decisions.optimizer_wraps import optimizer_wraps
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.coverage.trained_wraps import (
    others_beside,
    trained_wraps,
    without_optimizer,
    without_optimizers,
)
from hvdkit.migrate.facts.models.weight_updates import copied_gradients
from hvdkit.migrate.facts.models.wraps import Wrap
from hvdkit.migrate.facts.models.written_models import NotShown
from hvdkit.migrate.facts.optimizers.after_backward import after_backward
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.before_steps import before_steps
from hvdkit.migrate.facts.optimizers.hand_steps import MODEL, stepped_models, steps_by_hand
from hvdkit.migrate.facts.optimizers.unknown_steps import unknown_steps
from hvdkit.migrate.facts.programs.programs import ProgramFacts, migrates, programs_of
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.plan import Finding
from hvdkit.source.index.names import Names

ADVICE = (
    "create the optimizer where hvdkit can see it, from model.parameters() and a class of torch.optim "
    "or of this project, and run hvdkit migrate again: without hvd.DistributedOptimizer the ranks "
    "would train separately"
)
COPIED = (
    "gradients are copied to other tensors here, which an optimizer then steps: Horovod reduces the "
    "gradients of an optimizer's own parameters when backward() computes them, and these are not computed "
    "there"
)
OWN_GRADIENTS = (
    "give the optimizer the model's own parameters; for half precision use torch.autocast and GradScaler"
)
AFTER = ". Its gradients are not averaged after backward() (HVD416), since "
BESIDE = "the script itself updates parameters that no optimizer has: their gradients would not be averaged"
GIVE = (
    "give these parameters to an optimizer, too. Gradients are not averaged after backward() (HVD416) for all"
)


def stepped_by_hand_too(facts: Facts) -> Iterator[tuple[ProgramFacts, Names, ast.stmt]]:
    """Steps by hand of models that no optimizer has, in programs of one process that have optimizers, too.

    Horovod's would average none of their gradients.
    """
    for program in programs_of(facts) if averaging_optimizers(facts) else ():
        mine = [each for each in averaging_optimizers(facts) if each.names in program.files]
        trained = frozenset().union(*(optimizer.models for optimizer in mine))
        held = {names.source.segment(root) for optimizer in mine for names, root in optimizer.roots}
        for names, statement in steps_by_hand(facts, program) if mine and program.kind == "single" else ():
            try:
                wraps = [wrap for wrap in stepped_models(facts, names, statement) if wrap.name == MODEL]
            except NotShown:
                continue  # what a batch is changed by, to deceive a model
            if any(not wrap.models & trained and not _is_part(wrap, held) for wrap in wraps):
                yield program, names, statement


def _is_part(wrap: Wrap, held: set[str]) -> bool:
    """Whether a model is a part of one that an optimizer has: `net.head` of `net`."""
    text = wrap.names.source.segment(wrap.inner) if wrap.inner is not None else ""
    return any(text.startswith(f"{whole}.") for whole in held)


def check(facts: Facts) -> Iterator[Finding]:
    reported: set[object] = set()
    averaged = after_backward(facts)
    for program, wrap in without_optimizers(facts):
        if wrap.node in reported:
            continue
        reported.add(wrap.node)
        places = [
            names.place(call) for names, call in unknown_steps(facts, program, averaging_optimizers(facts))
        ]
        seen = f" (something unknown takes a step at {places[0]})" if places else ""
        message = f"the optimizer that trains this model was not found{seen}"
        problem = averaged.problems.get(wrap.node)
        why = f"{AFTER}{problem}" if problem else ""
        why += (
            f". They are not averaged before the step (HVD417), since {before_steps(facts, program).problem}"
        )
        yield refused("HVD905", wrap.names, wrap.node, message, ADVICE + why)
    alone = {step: (program, names) for program, names, step in without_optimizer(facts)}
    for step, (program, names) in alone.items():
        if program in averaged.programs:
            continue
        by_hand = not isinstance(step, ast.Call)
        taken = "the script itself takes" if by_hand else "something unknown takes"
        message = f"{taken} this step, and no other optimizer was found"
        problem = averaged.unshown.get(program, "") if by_hand else ""
        yield refused("HVD905", names, step, message, ADVICE + (problem and f"{AFTER}{problem}"))
    for program, names, step in stepped_by_hand_too(facts):
        if program not in averaged.programs:
            problem = averaged.unshown.get(program, "HVD416 was not chosen")
            yield refused("HVD905", names, step, BESIDE, f"{GIVE}, since {problem}")
    yield from _not_wrapped(facts)
    for names, call in dict.fromkeys(others_beside(facts)):
        if migrates(facts, names):
            message = "the object created here has a step() where an optimizer does, and is not known to be one: its gradients would not be averaged"
            yield refused("HVD905", names, call, message, ADVICE)
    for names in facts.files:
        mine = [p for p in programs_of(facts) if p.migrates and names in p.files]
        mine = [program for program in mine if program not in averaged.programs]
        for statement in dict.fromkeys(copied_gradients(facts, names)):
            if any(runs_in(facts, program, names, statement) for program in mine):
                yield refused("HVD905", names, statement, COPIED, OWN_GRADIENTS)


def _not_wrapped(facts: Facts) -> Iterator[Finding]:
    """Optimizers of DDP's models that the rule for them leaves to the person."""
    trained = {id(o.node): o for _, _, optimizers in trained_wraps(facts) for o in optimizers}
    if not trained:
        return
    left = {decision.place.call: decision for decision in optimizer_wraps(facts) if not decision.wrapped}
    for optimizer in trained.values():
        decision = left.get(optimizer.node)
        if decision is not None:
            obstacle = decision.obstacle
            why, advice = (
                (obstacle.said, obstacle.advice) if obstacle else (decision.message, decision.advice)
            )
            message = f"DDP would be removed, and this optimizer would not average: {why}"
            finding = refused("HVD905", optimizer.names, optimizer.node, message, advice)
            yield replace(finding, obstacle=obstacle)


RULE = Rule(
    id="HVD905",
    title="a program without its optimizer is refused",
    what=(
        "Leaves a program alone when the optimizer of a model that DDP wraps was not found, or cannot be "
        "wrapped, and HVD416 cannot average after backward() instead (here: for sparse gradients); also a "
        "single-process program whose optimizer was not found, or that updates weights by hand in a way "
        "that HVD416 cannot follow, and one whose optimizer steps copies of the model's parameters."
    ),
    why=(
        "DDP averages in the model, Horovod in the optimizer. Without it, each rank trains "
        "on its own, without any error."
    ),
    safety="Nothing is edited in any file of the program.",
    check=check,
    average_after=AverageAfter.REFUSED,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch
            from somewhere import Factored

            model = torch.nn.Linear(2, 1)
            if args.factored:
                optimizer = Factored(model.parameters(), lr=0.1)
            else:
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            optimizer.step()
            """,
            reason="one of two optimizers comes from an unknown library: with it the ranks would train separately",
            reported=True,
        ),
        Keep(
            """\
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in torch.utils.data.DataLoader(data, batch_size=4):
                x.requires_grad_()
                model(x).sum().backward()
                x.data.add_(x.grad.sign(), alpha=0.1)
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="each rank has its own batch, which its gradients change",
        ),
    ),
)
