"""The scale of the average: all ranks are given one process's batches, and must have its gradient.

Each rank then computes what the process did, so the average over the ranks is its gradient, to the last bit:
a sum of n equal numbers, divided by n, loses nothing. A sum that is not divided, or is divided twice, is
another number. Whether ranks are averaged at all is not seen here, but by their parameters after each step.

Batches that no loader returns cannot be given to another run. There what an optimizer uses is held against
the mean of what the ranks computed themselves (see `own_scale`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from hvdkit.observe.records import ADASUM, CLIPPED, Run, Step
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.invariant import Checked, Invariant
from hvdkit.verify.own_scale import NAME, cause_of, compare_own, step_at, unseen
from hvdkit.verify.placement import HOROVOD
from hvdkit.verify.runner import HangError, NoStepError, RunError
from hvdkit.verify.scene import Scene
from hvdkit.verify.values import distance

STEPS = 3  # that are repeated, at most: their batches are kept on disk
# Share of a whole gradient's norm that divisors which are no power of two may round away.
ROUNDING = 1e-5

NO_LOADER = "the batches do not come from a DataLoader"


def check_scale(scene: Scene, settings: Settings, one: Run, ranks: Run) -> Checked:
    """By the batches of `one` where a loader returned them, else by what each rank of `ranks` computed.

    settings: those of `one`, which had one process and kept its batches; `ranks` kept their own gradients.
    """
    found = unseen(NO_LOADER)
    if any(step.batches for step in one.steps[min(one.steps)]):
        found = _given_batches(scene, settings, one)
    if found.invariants:
        return found
    own = compare_own(one, ranks, STEPS)
    return own if own.invariants else Checked(unchecked=found.unchecked + own.unchecked)


def _given_batches(scene: Scene, settings: Settings, one: Run) -> Checked:
    """Run the migrated once more, each rank with the batches of `one`, and compare gradients."""
    asked = scene.request
    repeated = replace(
        settings, world=asked.world, steps=min(asked.steps, STEPS), keep=0, own=0, repeat=str(one.folder)
    )
    whose = "script" if asked.original == asked.migrated else "migrated"
    try:
        run = scene.run(f"{whose} with the batches of 1 rank", asked.migrated, HOROVOD, repeated)
    except (RunError, HangError, NoStepError):
        reason = "given the batches of one process, the ranks ended with an error or took no step"
        return unseen(reason)
    return compare_scale(one, run)


def compare_scale(one: Run, repeated: Run) -> Checked:
    """Hold the gradients of all ranks against those of one process, as far as ranks did the same as it."""
    seen = 0
    for step in one.steps[min(one.steps)]:
        steps = [step_at(steps, step) for steps in repeated.steps.values()]
        others = [other for other in steps if other is not None]
        reason = _unlike(step, others) if len(others) == len(steps) else "the ranks took no further step"
        if reason and seen:
            break
        if reason:
            return unseen(reason)
        if not step.number:
            continue
        for other in others:
            wrong = next(_wrong(one, repeated, step, other), None)
            if wrong is None:
                continue
            if len({other.losses for other in others}) > 1:
                # A generator of the script's own, whose state is not set: ranks are meant to differ.
                reason = "ranks draw different random numbers for the same batch"
                return _held(seen) if seen else unseen(reason)
            seen_as, ratio = wrong
            detail = (
                f"{seen_as} is {ratio:.4g} times that of the same batches in one process, step {step.number}"
            )
            return Checked((Invariant(NAME, False, detail, cause_of(ratio, repeated.world)),))
        seen += 1
        if not _goes_on(step, others):
            break
    return _held(seen) if seen else unseen("no step was repeated")


def _held(seen: int) -> Checked:
    detail = f"given its batches, every rank has its gradient, {seen} step{'s' if seen > 1 else ''}"
    return Checked((Invariant(NAME, True, detail),))


def _unlike(step: Step, others: list[Step]) -> str:
    """Why ranks cannot be expected to have this step's gradient; "" where they can."""
    if not step.number:
        starts = {tuple(t.digest for t in state.parameters + state.frozen) for state in (step, *others)}
        return "" if len(starts) == 1 else "ranks start from different weights than one process"
    if not step.batches:
        return NO_LOADER
    if any(other.batches != step.batches for other in others):
        return "ranks use different batches for a step than one process"
    return ""


def _wrong(one: Run, repeated: Run, step: Step, other: Step) -> Iterator[tuple[str, float]]:
    """What is not the process's, and how many times that it is: gradients before those that were clipped."""
    norms = [[float(event.detail) for event in of.events if event.what == CLIPPED] for of in (step, other)]
    for before, now in zip(*norms):
        if abs(now - before) > ROUNDING * abs(before):
            yield "the norm that is clipped", _times(now, before)
    whole = sum(tensor.norm**2 for tensor in step.gradients) ** 0.5
    ranks = {tensor.name: tensor for tensor in other.gradients}
    for tensor in step.gradients:
        now = ranks.get(tensor.name)
        if now is None:
            apart = tensor.norm
        elif now.digest == tensor.digest:
            continue
        elif not tensor.norm:
            apart = now.norm
        else:
            places = [(run.folder / at.values, tensor.name) for run, at in ((one, step), (repeated, other))]
            apart = (distance(places[0], places[1], "gradients")[1] or 0.0) * tensor.norm
        if apart > ROUNDING * whole:
            yield f"the gradient of {tensor.name}", _times(now.norm if now else 0.0, tensor.norm)


def _times(now: float, before: float) -> float:
    return now / before if before else math.inf


def _goes_on(step: Step, others: list[Step]) -> bool:
    """Whether the next step has the same weights to start from. Adasum rounds each update in its own way."""
    if any(event.what == ADASUM for other in others for event in other.events):
        return False
    return all(_digests(other) == _digests(step) for other in others)


def _digests(step: Step) -> list[str]:
    return [tensor.digest for tensor in step.parameters]
