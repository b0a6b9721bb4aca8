"""What both runs save under one name in one step: the same state, complete.

Only what is known as state is compared with the original's: tensors that both runs held at a step, bit for
bit (and, for what is missing, that the original held). A checkpoint has more in it, which may differ: the
states of generators, times, metrics of one rank.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from hvdkit.observe.records import TENSOR_FIELDS, Run, Saved, Tensor
from hvdkit.verify.differences import Difference, Stage


def contents_apart(original: Run, migrated: Run) -> Iterator[Difference]:
    """Files that lack state that the original saves, or have other values in its place."""
    held = [_held(run) for run in (original, migrated)]
    theirs = _files(migrated)
    for (step, file), (rank, one) in _files(original).items():
        other = theirs.get((step, file))
        if other is None:
            continue
        missing, changed = _missing(one, other[1], held[0]), _changed(one, other[1], held[0] & held[1])
        if missing:
            first = missing[0].name or "its tensor"
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            yield _difference(step, rank, file, f"{first}{more}", "not in it")
        elif changed:
            first = changed[0].name or "its tensor"
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            yield _difference(step, rank, file, f"{first}{more}, as trained", "other values")


def _difference(step: int, rank: int, file: str, before: str, now: str) -> Difference:
    return Difference(Stage.CONTENTS, step, 0, rank, file, before, now)


def _missing(one: Saved, other: Saved, held: set[str]) -> list[Tensor]:
    """State that is there neither under its name nor under another."""
    names = {tensor.name for tensor in other.tensors}
    digests = {tensor.digest for tensor in other.tensors}
    return [
        tensor for tensor in _state(one, held) if tensor.name not in names and tensor.digest not in digests
    ]


def _changed(one: Saved, other: Saved, held: set[str]) -> list[Tensor]:
    now = {tensor.name: tensor.digest for tensor in other.tensors}
    return [tensor for tensor in _state(one, held) if now.get(tensor.name, tensor.digest) != tensor.digest]


def _state(file: Saved, held: set[str]) -> list[Tensor]:
    """What is known as state; a single number may be equal to one by chance."""
    return [tensor for tensor in file.tensors if tensor.digest in held and math.prod(tensor.shape) > 1]


def _held(run: Run) -> set[str]:
    """Digests of all that the ranks held at any step but gradients, which no script saves to go on from."""
    fields = [field for field in TENSOR_FIELDS if field != "gradients"]
    return {
        tensor.digest
        for steps in run.steps.values()
        for step in steps
        for field in fields
        for tensor in getattr(step, field)
    }


def _files(run: Run) -> dict[tuple[int, str], tuple[int, Saved]]:
    """The last that was saved as each file before each step, by the first rank that did."""
    found: dict[tuple[int, str], tuple[int, Saved]] = {}
    for rank in sorted(run.steps, reverse=True):
        for step in run.steps[rank]:
            for file in step.saved:
                found[step.number, file.file] = rank, file
    return found
