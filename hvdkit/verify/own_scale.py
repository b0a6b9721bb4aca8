"""The scale of the average, read from what each rank computed itself: the optimizer uses the mean of that.

Needs no second run and no batches. A loss that is divided by the number of ranks makes a rank's own gradient
too small before it is averaged: its last factor is compared with the one that it has in one process.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hvdkit.observe.records import ADASUM, Run, Step
from hvdkit.verify.cause import Cause
from hvdkit.verify.invariant import Checked, Invariant, Unchecked

NAME = "the average over the ranks has the scale of one process's gradient"
# Share by which a gradient may miss a multiple of the mean: float16 rounds, and may cancel. A number of ranks
# is further from 1.
NEAR = 1e-2
# Gradients below this share of the whole may be nothing but rounding.
SMALL = 1e-5

SUMMED = Cause("HVD401", "gradients are summed, not averaged: op=hvd.Average, which is the default")
DIVIDED = Cause(
    "HVD401",
    "gradients are divided by the number of ranks twice: Horovod averages already; do not divide the loss",
)
OTHER = Cause(
    "HVD401",
    "the result of the average is not the average: check the optimizer's op, divisors of the loss, and "
    "code that changes gradients between backward() and step()",
)


def unseen(reason: str) -> Checked:
    """Nothing is known of the scale."""
    return Checked(unchecked=(Unchecked("the scale of the average", reason),))


def cause_of(ratio: float, world: int, near: float = 1e-3) -> Cause:
    """What makes a gradient so many times what it should be."""
    for wanted, cause in ((world, SUMMED), (1 / world, DIVIDED)):
        if abs(ratio / wanted - 1) < near:
            return cause
    return OTHER


def compare_own(one: Run, ranks: Run, steps: int) -> Checked:
    """Hold what the optimizers of `ranks` use against the mean of their own gradients, for so many steps."""
    seen = 0
    for step in ranks.steps[min(ranks.steps)]:
        if not 0 < step.number <= steps:
            continue
        others = [step_at(taken, step) for taken in ranks.steps.values()]
        found = [other for other in others if other is not None]
        reason = _why_not(found) if len(found) == len(others) else "the ranks did not take the same steps"
        ratios = {} if reason else _ratios(ranks, found)
        if not ratios:
            if seen:
                break
            reason = reason or "gradients are not those of the ranks times a number"
            return unseen(reason)
        factor = _factor(step_at(one.steps[min(one.steps)], step), step, ranks.world)
        for name, ratio in ratios.items():
            scale = ratio * factor
            cause = cause_of(scale, ranks.world, NEAR)
            if abs(scale - 1) < NEAR:
                continue
            if cause is OTHER:
                return unseen(f"gradients are changed by a factor of {scale:.4g}")
            detail = f"the gradient of {name} is {scale:.4g} times the mean of the ranks' own"
            if abs(ratio - 1) < NEAR:
                detail = f"the loss is divided by {1 / factor:g}, and gradients are averaged"
            return Checked((Invariant(NAME, False, f"{detail}, step {step.number}", cause),))
        seen += 1
    if not seen:
        return unseen("no step has the ranks' own gradients")
    detail = f"optimizers use the mean of what the ranks compute, {seen} step{'s' if seen > 1 else ''}"
    return Checked((Invariant(NAME, True, detail),))


def step_at(steps: tuple[Step, ...], moment: Step) -> Step | None:
    """The step of one rank that is the same in its order."""
    key = moment.optimizer, moment.number
    return next((step for step in steps if (step.optimizer, step.number) == key), None)


def _why_not(steps: list[Step]) -> str:
    if any(step.values.endswith(".npz") for step in steps):
        return "of TensorFlow's ranks the reduced gradients alone are known"
    if any(event.what == ADASUM for step in steps for event in step.events):
        return "Adasum is no average"
    return ""


def _factor(alone: Step | None, step: Step, world: int) -> float:
    """A power of 1 / world by which all losses of a step are multiplied, but not in one process; else 1."""
    if alone is None or len(alone.factors) != len(step.factors) or not all(alone.factors):
        return 1.0
    ratios = {now / before for before, now in zip(alone.factors, step.factors)}
    for power in (1, 2):
        if ratios and all(abs(ratio * world**power - 1) < 1e-6 for ratio in ratios):
            return float(world) ** -power
    return 1.0


def _ratios(run: Run, steps: list[Step]) -> dict[str, float]:
    """How many times the mean of the ranks' own gradients the used one is, by parameter. Empty where it is no
    multiple of it, or where all ranks have the same, as after a reduction inside backward()."""
    import torch

    kept: list[dict[str, Any]] = [torch.load(run.folder / step.values, weights_only=True) for step in steps]
    own: list[dict[str, Any]] = [each.get("own", {}) for each in kept]
    names = [name for name in own[0] if all(name in each for each in own)]
    if all(torch.equal(own[0][name], each[name]) for name in names for each in own[1:]):
        return {}
    found: dict[str, float] = {}
    means = {name: sum(each[name].double() for each in own) / len(own) for name in names}
    whole = sum(float(mean.square().sum()) for mean in means.values()) ** 0.5
    for name, used in _used(kept[0]):
        mean = means.get(name)
        if mean is None:
            continue
        norm = float(torch.linalg.vector_norm(mean))
        if norm <= SMALL * whole or not norm:
            continue
        ratio = float(torch.dot(used, mean)) / norm**2
        apart = float(torch.linalg.vector_norm(used - ratio * mean))
        # float16 rounds each rank's own gradient, which may be far larger than their mean.
        allowed = NEAR * max(norm, *(float(torch.linalg.vector_norm(each[name].double())) for each in own))
        if apart > allowed * max(1.0, abs(ratio)):
            return {}
        found[name] = ratio
    return found


def _used(kept: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What came out of the reduction: before it was clipped or unscaled, where it was."""
    reduced = kept.get("reduced", {})
    for name, gradient in kept["gradients"].items():
        yield name, reduced.get(name, gradient).double()
