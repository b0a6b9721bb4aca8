"""Every place where one rank's step differs between two runs, in the order of cause and effect.

Within a step: order of calls, samples, batches, inputs, loss, gradient, settings, learning rate, reduction,
parameters, buffers, untrained modules, what ranks hold apart, decisions, collectives, what is printed, files
and their contents.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest
from pathlib import Path

from hvdkit.observe.records import ADASUM_OFF, DDP, SENDS_BUFFERS, WRONG_ORDER, Draw, Run, Step, Tensor
from hvdkit.verify.values import distance


class Stage(Enum):
    """What differs; in order of cause and effect within a step."""

    ORDER = "order of calls"
    SAMPLES = "sample order"
    BATCH = "batch"
    INPUT = "input of the model"
    LOSS = "loss"
    GRADIENT = "gradient"
    SETTING = "setting"
    RATE = "learning rate"
    REDUCTION = "reduction"
    PARAMETER = "parameter"
    FROZEN = "frozen parameter"
    BUFFER = "buffer"
    UNTRAINED = "untrained module"
    STATE = "state of the ranks"
    DECISION = "what a scheduler decides by"
    COLLECTIVE = "collective"
    PRINTED = "what is printed"
    FILES = "file"
    CONTENTS = "contents of"
    STEPS = "optimizer steps"
    ENDING = "how it ends"

    @property
    def place(self) -> int:
        """Position in that order."""
        return list(Stage).index(self)


# What is found of a file that the original writes.
NO_RANK = "written by no rank"


@dataclass(frozen=True)
class Difference:
    """One value that is not the same in both runs.

    step: 0 is the state before the first step. optimizer: order of first step. largest: the largest
    absolute difference among the values kept. relative: Euclidean norm of the difference over that of the
    original; None where there is no such number (orders, shapes, an original of zero), which no tolerance
    covers. places: the lines of both scripts, where they are known.
    """

    stage: Stage
    step: int
    optimizer: int
    rank: int
    name: str
    original: str
    migrated: str
    largest: float | None = None
    relative: float | None = None
    places: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Pair:
    """The same step of the same rank in both runs, and where their values lie.

    own_buffers: whether the rank's buffers are compared, or overwritten with rank 0's.
    """

    rank: int
    one: Step
    other: Step
    folders: tuple[Path, Path]
    own_buffers: bool

    def differ(
        self,
        stage: Stage,
        name: str,
        left: object,
        right: object,
        largest: float | None = None,
        relative: float | None = None,
    ) -> Difference:
        """A difference in this pair."""
        return Difference(
            stage,
            self.one.number,
            self.one.optimizer,
            self.rank,
            name,
            str(left),
            str(right),
            largest,
            relative,
            (self.one.place, self.other.place),
        )


def pairs_of(original: Run, migrated: Run) -> list[Pair]:
    """The steps that both runs have, rank by rank in the order of time."""
    pairs = []
    seen = {event.what for steps in original.steps.values() for step in steps for event in step.events}
    # DDP may overwrite the others' with rank 0's before each forward, Horovod does not; both save rank 0's.
    own = DDP in seen and SENDS_BUFFERS not in seen
    for rank, steps in original.steps.items():
        others = {(step.optimizer, step.number): step for step in migrated.steps.get(rank, ())}
        for step in steps:
            if (step.optimizer, step.number) in others:
                other = others[step.optimizer, step.number]
                pairs.append(Pair(rank, step, other, (original.folder, migrated.folder), own or not rank))
    return pairs


def differences_in(pair: Pair, given: bool = False) -> Iterator[Difference]:
    """All differences of one pair. given: the original was given the migrated's batches, so that what models
    are given is compared in the place of what loaders draw."""
    yield from _order(pair)
    if given:
        yield from _inputs(pair)
    else:
        yield from _samples(pair)
        yield from _batches(pair)
    yield from _numbers(pair, Stage.LOSS, pair.one.losses, pair.other.losses)
    gradients = _tensors(pair, Stage.GRADIENT, "gradients")
    yield from _but_zeros(pair, gradients) if given else gradients
    yield from _settings(pair)
    if not given or pair.one.number:  # at the start they are the original's own, and may be scaled
        yield from _numbers(pair, Stage.RATE, pair.one.rates, pair.other.rates)
    yield from _reductions(pair)
    yield from _tensors(pair, Stage.PARAMETER, "parameters")
    yield from _tensors(pair, Stage.FROZEN, "frozen")
    if pair.own_buffers:
        yield from _tensors(pair, Stage.BUFFER, "buffers")
        yield from _tensors(pair, Stage.UNTRAINED, "untrained_buffers", shared=True)
    yield from _tensors(pair, Stage.UNTRAINED, "untrained", shared=True)


def _order(pair: Pair) -> Iterator[Difference]:
    for event in pair.other.events:
        if event.what in WRONG_ORDER and event not in pair.one.events:
            yield pair.differ(Stage.ORDER, event.what, "-", event.detail)


def _reductions(pair: Pair) -> Iterator[Difference]:
    for event in pair.other.events:
        if event.what == ADASUM_OFF:
            yield pair.differ(Stage.REDUCTION, event.what, "closed form", event.detail)


def _samples(pair: Pair) -> Iterator[Difference]:
    for one, other in zip_longest(pair.one.draws, pair.other.draws):
        if _where(one) != _where(other):
            yield pair.differ(Stage.SAMPLES, "", _shown(one), _shown(other))
            return  # all that follow differ with it


def _where(draw: Draw | None) -> object:
    return draw and (draw.loader, draw.epoch, draw.indices)


def _shown(draw: Draw | None) -> str:
    if draw is None:
        return "no batch"
    head = ", ".join(map(str, draw.indices[:8])) + (", ..." if len(draw.indices) > 8 else "")
    return f"{head} (loader {draw.loader}, epoch {draw.epoch}, {draw.sampler})"


def _batches(pair: Pair) -> Iterator[Difference]:
    for place, (one, other) in enumerate(zip_longest(pair.one.batches, pair.other.batches)):
        if one != other:
            left, right = (f"SHA-256 {digest[:12]}" if digest else "no batch" for digest in (one, other))
            yield pair.differ(Stage.BATCH, f"{place + 1} before this step", left, right)
            return


def _inputs(pair: Pair) -> Iterator[Difference]:
    for place, (one, other) in enumerate(zip_longest(pair.one.inputs, pair.other.inputs)):
        if one != other:
            left, right = (f"SHA-256 {digest[:12]}" if digest else "none" for digest in (one, other))
            yield pair.differ(Stage.INPUT, f"{place + 1} before this step", left, right)
            return


def _but_zeros(pair: Pair, found: Iterator[Difference]) -> Iterator[Difference]:
    """Horovod makes zeros of a gradient that is missing; where they matter, parameters differ."""
    zeros = {gradient.name for gradient in pair.other.gradients if not gradient.norm}
    return (each for each in found if each.original != "none" or each.name not in zeros)


def _settings(pair: Pair) -> Iterator[Difference]:
    """Those that both have: a wrapper may add its own."""
    theirs = {setting.name: setting for setting in pair.other.settings}
    for one in pair.one.settings:
        other = theirs.get(one.name)
        if other is not None and other.digest != one.digest:
            left, right = (
                side.digest if not side.shape else f"SHA-256 {side.digest[:12]}" for side in (one, other)
            )
            yield pair.differ(Stage.SETTING, one.name, left, right)


def _numbers(
    pair: Pair, stage: Stage, lefts: Sequence[float], rights: Sequence[float]
) -> Iterator[Difference]:
    if len(lefts) != len(rights):
        yield pair.differ(stage, "how many", len(lefts), len(rights))
    for place, (left, right) in enumerate(zip(lefts, rights)):
        if left != right and not (math.isnan(left) and math.isnan(right)):
            name = str(place + 1) if len(lefts) > 1 else ""
            distance = abs(left - right)
            relative = distance / abs(left) if left else None
            yield pair.differ(stage, name, repr(left), repr(right), distance, relative)


def _tensors(pair: Pair, stage: Stage, kind: str, shared: bool = False) -> Iterator[Difference]:
    """shared: only those that both have; a wrapper of one of them may keep a module for its own ends."""
    lefts, rights = getattr(pair.one, kind), getattr(pair.other, kind)
    if shared:
        names = {tensor.name for tensor in lefts} & {tensor.name for tensor in rights}
        lefts, rights = ([tensor for tensor in side if tensor.name in names] for side in (lefts, rights))
    for left, right in _matched(lefts, rights):
        if left is None or right is None:
            name = (left or right or Tensor("", (), "", "", 0.0)).name
            yield pair.differ(stage, name, "present" if left else "none", "present" if right else "none")
        elif (left.shape, left.dtype) != (right.shape, right.dtype):
            yield pair.differ(stage, left.name, _kind(left), _kind(right))
        elif left.digest != right.digest:
            norms = (f"norm {left.norm:.9g}", f"norm {right.norm:.9g}")
            yield pair.differ(stage, left.name, *norms, *_distance(pair, kind, left, right))


def _kind(tensor: Tensor) -> str:
    return f"{tensor.dtype} of shape {tuple(tensor.shape)}"


def _matched(
    lefts: Sequence[Tensor], rights: Sequence[Tensor]
) -> Iterator[tuple[Tensor | None, Tensor | None]]:
    """By name where both sides have the same names, each once; else by order."""
    by_name = {tensor.name: tensor for tensor in rights}
    if len(by_name) == len(rights) == len(lefts) and {tensor.name for tensor in lefts} == set(by_name):
        yield from ((tensor, by_name[tensor.name]) for tensor in lefts)
    else:
        yield from zip_longest(lefts, rights)


def _distance(pair: Pair, kind: str, left: Tensor, right: Tensor) -> tuple[float, float | None]:
    """Largest and relative difference over the values that were kept."""
    one, other = (
        (folder / step.values, tensor.name)
        for folder, step, tensor in zip(pair.folders, (pair.one, pair.other), (left, right))
    )
    return distance(one, other, kind)
