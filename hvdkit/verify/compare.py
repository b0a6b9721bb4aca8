"""Two runs side by side: every place where they differ, in the order in which it happened.

Ranks are compared with ranks and steps with steps. Within a step the order is that of cause and effect:
samples, batches, loss, gradient, learning rate, parameters, buffers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from hvdkit.verify.records import Draw, Run, Step, Tensor
from hvdkit.verify.tolerance import Tolerance


class Stage(IntEnum):
    """What differs, in order of cause and effect within a step."""

    SAMPLES = 0
    BATCH = 1
    LOSS = 2
    GRADIENT = 3
    RATE = 4
    PARAMETER = 5
    FROZEN = 6
    BUFFER = 7
    STEPS = 8

    @property
    def title(self) -> str:
        """As it is printed."""
        return TITLES[self]


TITLES = {
    Stage.SAMPLES: "sample order",
    Stage.BATCH: "batch",
    Stage.LOSS: "loss",
    Stage.GRADIENT: "gradient",
    Stage.RATE: "learning rate",
    Stage.PARAMETER: "parameter",
    Stage.FROZEN: "frozen parameter",
    Stage.BUFFER: "buffer",
    Stage.STEPS: "number of steps",
}


@dataclass(frozen=True)
class Difference:
    """One value that is not the same in both runs.

    step: 0 is the state before the first step. optimizer: order of first step. largest: the largest
    absolute difference among the values kept (tensors only). relative: Euclidean norm of the difference
    over that of the original (tensors and numbers only).
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


@dataclass(frozen=True)
class Comparison:
    """All differences, first one first. compared: (rank, optimizer, step) that both runs have."""

    original: Run
    migrated: Run
    tolerance: Tolerance
    compared: tuple[tuple[int, int, int], ...]
    differences: tuple[Difference, ...]
    identical: bool

    @property
    def agree(self) -> bool:
        """Nothing differs by more than the tolerance."""
        return not self.differences


def compare(original: Run, migrated: Run, tolerance: Tolerance) -> Comparison:
    """Compare two runs of equal world size."""
    pairs = [
        (rank, one, by_key[key])
        for rank in original.steps
        for by_key in [{(step.optimizer, step.number): step for step in migrated.steps.get(rank, ())}]
        for one in original.steps[rank]
        for key in [(one.optimizer, one.number)]
        if key in by_key
    ]
    exact = [d for rank, one, other in pairs for d in _differences(original, migrated, rank, one, other)]
    beyond = [d for d in exact if d.relative is None or not d.relative <= tolerance.at(d.step)]
    beyond += _counts(original, migrated)
    return Comparison(
        original,
        migrated,
        tolerance,
        tuple((rank, one.optimizer, one.number) for rank, one, _ in pairs),
        tuple(sorted(beyond, key=lambda d: (d.step, d.stage, d.rank))),
        identical=not exact and not beyond,
    )


def _counts(original: Run, migrated: Run) -> Iterator[Difference]:
    for rank in sorted({*original.steps, *migrated.steps}):
        taken = [run.taken(rank) if rank in run.steps else 0 for run in (original, migrated)]
        if taken[0] != taken[1]:
            yield Difference(
                Stage.STEPS, min(taken) + 1, 0, rank, "optimizer steps taken", str(taken[0]), str(taken[1])
            )


def _differences(original: Run, migrated: Run, rank: int, one: Step, other: Step) -> Iterator[Difference]:
    def differ(stage: Stage, name: str, left: object, right: object, **more: Any) -> Difference:
        return Difference(stage, one.number, one.optimizer, rank, name, str(left), str(right), **more)

    for place, (a, b) in enumerate(_zip_draws(one.draws, other.draws)):
        if a != b:
            yield differ(Stage.SAMPLES, f"draw {place}", _shown(a), _shown(b))
            break
    if one.batches != other.batches and len(one.batches) == len(other.batches):
        yield differ(Stage.BATCH, "contents", one.batches[0][:12], other.batches[0][:12])
    for stage, lefts, rights in (
        (Stage.LOSS, one.losses, other.losses),
        (Stage.RATE, one.rates, other.rates),
    ):
        if len(lefts) != len(rights):
            yield differ(stage, "how many", len(lefts), len(rights))
        for place, (left, right) in enumerate(zip(lefts, rights)):
            if left != right and not (left != left and right != right):
                relative = abs(left - right) / abs(left) if left else float("inf")
                name = f"value {place}" if len(lefts) > 1 else ""
                yield differ(
                    stage, name, repr(left), repr(right), largest=abs(left - right), relative=relative
                )
    for stage, kind in (
        (Stage.GRADIENT, "gradients"),
        (Stage.PARAMETER, "parameters"),
        (Stage.FROZEN, "frozen"),
        (Stage.BUFFER, "buffers"),
    ):
        if stage is Stage.BUFFER and rank > 0:
            continue  # DDP overwrites them with rank 0's before each forward; rank 0's are what is saved
        for left, right in _paired(getattr(one, kind), getattr(other, kind)):
            if left is None or right is None:
                present = left or right
                assert present is not None
                yield differ(stage, present.name, "present" if left else "-", "present" if right else "-")
            elif left.shape != right.shape or left.dtype != right.dtype:
                yield differ(stage, left.name, f"{left.dtype} {left.shape}", f"{right.dtype} {right.shape}")
            elif left.digest != right.digest:
                yield differ(
                    stage,
                    left.name,
                    f"norm {left.norm:.9g}",
                    f"norm {right.norm:.9g}",
                    **_distance(
                        original.folder / one.values, migrated.folder / other.values, kind, left, right
                    ),
                )


def _zip_draws(ones: tuple[Draw, ...], others: tuple[Draw, ...]) -> Iterator[tuple[Draw | None, Draw | None]]:
    for place in range(max(len(ones), len(others))):
        yield ones[place] if place < len(ones) else None, others[place] if place < len(others) else None


def _shown(draw: Draw | None) -> str:
    if draw is None:
        return "none"
    head = ", ".join(map(str, draw.indices[:8])) + (", ..." if len(draw.indices) > 8 else "")
    return f"loader {draw.loader} epoch {draw.epoch}: {head}"


def _paired(
    lefts: tuple[Tensor, ...], rights: tuple[Tensor, ...]
) -> Iterator[tuple[Tensor | None, Tensor | None]]:
    """By name when both sides have the same unique names, else by order."""
    by_name = {tensor.name: tensor for tensor in rights}
    if len(by_name) == len(rights) and {tensor.name for tensor in lefts} == set(by_name):
        yield from ((tensor, by_name[tensor.name]) for tensor in lefts)
        return
    for place in range(max(len(lefts), len(rights))):
        yield lefts[place] if place < len(lefts) else None, rights[place] if place < len(rights) else None


def _distance(one: Path, other: Path, kind: str, left: Tensor, right: Tensor) -> dict[str, float]:
    """Largest and relative difference over the values that were kept."""
    import torch

    a = torch.load(one, weights_only=True)[kind][left.name].to(torch.float64)
    b = torch.load(other, weights_only=True)[kind][right.name].to(torch.float64)
    distance = torch.linalg.vector_norm(a - b)
    norm = torch.linalg.vector_norm(a)
    relative = float(distance / norm) if norm else float("inf")
    return {"largest": float((a - b).abs().max()), "relative": relative}
