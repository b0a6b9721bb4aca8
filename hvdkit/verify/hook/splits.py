"""The samples that a split gave each loader: kept for a later run, which takes them in place of its own draw.

A migration has to split by the same random numbers on every rank, and so by others than its original: which
samples it evaluates on is chance in both. The later run has the earlier one's split, so that all else can be
compared. One in which loaders share samples is no split, and is left as it is.
"""

from __future__ import annotations

import pickle
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch.utils.data import DataLoader, Subset, SubsetRandomSampler

from hvdkit.verify.hook.samples import MOST, Bases, inner, placed

FOLDER = "splits"  # of a record: a file for each loader of a part of a data set


@dataclass(frozen=True)
class Part:
    """The samples of a loader, by their places in the innermost data set. take: gives it others."""

    base: Any
    places: list[int]
    take: Callable[[list[int]], None]


class Splits:
    """Those of one process. kept: the folder of its record; None where no other run needs it. taken: that of
    the run whose split is taken."""

    def __init__(self, bases: Bases, kept: Path | None, taken: Path | None) -> None:
        self.bases, self.kept = bases, kept
        self.theirs = _read(taken / FOLDER) if taken else {}
        self.counts: Counter[str] = Counter()

    def make(self, loader: DataLoader[Any]) -> str:
        """A loader is made: keep its part, or give it the other run's; what it was given, "" for nothing."""
        part = _part_of(loader)
        if part is None:
            return ""
        name = self.bases.name(part.base)
        key = name, self.counts[name]
        self.counts[name] += 1
        theirs = self.theirs.get(key, part.places)
        given = len(theirs) == len(part.places) and {*theirs} != {*part.places} and self._is_split(*key)
        if given:
            part.take([*theirs])
        if self.kept:
            _write(self.kept / FOLDER, key, part.places)
        return f"{len(theirs)} samples of {name}" if given else ""

    def _is_split(self, base: str, place: int) -> bool:
        """Whether the other run's loader shares no sample with one that has others, too."""
        own = {*self.theirs[base, place]}
        parts = ({*places} for (other, _), places in self.theirs.items() if other == base)
        return all(part == own or part.isdisjoint(own) for part in parts)


def _part_of(loader: DataLoader[Any]) -> Part | None:
    """None for a loader of a whole data set, or of parts of several."""
    sampler: Any = loader.sampler
    subset: Any = loader.dataset
    while not isinstance(subset, Subset) and inner(subset) is not None:
        subset = inner(subset)
    if isinstance(subset, Subset):
        held = len(subset)

        def take(places: list[int]) -> None:
            subset.dataset, subset.indices = base, places

        indices: Any = range(held)
    elif isinstance(sampler, SubsetRandomSampler):

        def take(places: list[int]) -> None:
            sampler.indices = places

        held, indices = len(sampler), map(int, sampler.indices)
    else:
        return None
    found = [*placed(subset, indices)] if held <= MOST else []
    if not found or any(one is not found[0][0] for one, _ in found):
        return None
    base = found[0][0]
    return Part(base, [place for _, place in found], take)


def _write(folder: Path, key: tuple[str, int], places: list[int]) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / str(len([*folder.iterdir()]))
    path.write_bytes(pickle.dumps((key, array("q", places))))


def _read(folder: Path) -> dict[tuple[str, int], Any]:
    return dict(pickle.loads(path.read_bytes()) for path in folder.iterdir()) if folder.is_dir() else {}
