"""Which samples a loader holds and draws, by what they are: their place in the innermost data set.

A place inside a Subset says nothing where each rank has made another split.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sized
from typing import Any

from torch.utils.data import ConcatDataset, DataLoader, Dataset, IterableDataset, Subset, SubsetRandomSampler

from hvdkit.observe.records import Pool
from hvdkit.verify.hook.tensors import digest, tensors_in

MOST = 1 << 24  # samples of a loader that are listed


class Bases:
    """The innermost data sets of this process, by name; kept, so that ids stay unique."""

    def __init__(self) -> None:
        self.met: dict[str, Any] = {}
        self.names: dict[int, str] = {}

    def name(self, base: Any) -> str:
        """Of a data set that wraps none: class, length, and a number where others have both."""
        if id(base) not in self.names:
            kind = f"{type(base).__name__} of {len(base) if isinstance(base, Sized) else '?'}"
            alike = sum(name.split(" #")[0] == kind for name in self.met)
            self.names[id(base)] = f"{kind} #{alike + 1}" if alike else kind
            self.met[self.names[id(base)]] = base
        return self.names[id(base)]

    def samples(self, dataset: Any, indices: tuple[Any, ...]) -> tuple[str, ...]:
        """ "DATA SET:INDEX" of each; empty where the indices themselves say it, or are not numbers."""
        if inner(dataset) is None and not isinstance(dataset, (Subset, ConcatDataset)):
            return ()
        if not isinstance(dataset, Sized) or not all(
            isinstance(i, int) and 0 <= i < len(dataset) for i in indices
        ):
            return ()
        return tuple(f"{self.name(base)}:{place}" for base, place in placed(dataset, indices))

    def pools(self, made: int, loader: DataLoader[Any]) -> tuple[Pool, ...]:
        """All samples that a loader can draw, for each innermost data set; none where it cannot be told."""
        dataset: Any = loader.dataset
        if isinstance(dataset, IterableDataset) or not isinstance(dataset, Sized) or len(dataset) > MOST:
            return ()
        drawn = loader.sampler.indices if isinstance(loader.sampler, SubsetRandomSampler) else None
        places: dict[str, set[int]] = {}
        for base, place in placed(dataset, range(len(dataset)) if drawn is None else map(int, drawn)):
            places.setdefault(self.name(base), set()).add(place)
        return tuple(Pool.of(made, base, held) for base, held in places.items())


def inner(dataset: Any) -> Any | None:
    """What a data set of the script's own wraps sample by sample: the one data set of its length in it."""
    held = [value for value in getattr(dataset, "__dict__", {}).values() if isinstance(value, Dataset)]
    if len(held) != 1 or not isinstance(dataset, Sized) or not isinstance(held[0], Sized):
        return None
    return held[0] if len(held[0]) == len(dataset) else None


def placed(dataset: Any, indices: Iterable[int]) -> Iterable[tuple[Any, int]]:
    """The innermost data set and the place in it of each."""
    if isinstance(dataset, Subset) and all(hasattr(i, "__index__") for i in dataset.indices):
        return placed(dataset.dataset, (int(dataset.indices[i]) for i in indices))
    if isinstance(dataset, ConcatDataset):
        return (found for i in indices for found in placed(*_part(dataset, i)))
    wrapped = inner(dataset)
    return ((dataset, i) for i in indices) if wrapped is None else placed(wrapped, indices)


def _part(dataset: ConcatDataset[Any], index: int) -> tuple[Any, tuple[int, ...]]:
    part = bisect_right(dataset.cumulative_sizes, index)
    before = dataset.cumulative_sizes[part - 1] if part else 0
    return dataset.datasets[part], (index - before,)


def rows(batch: Any) -> tuple[str, ...]:
    """A digest of each sample in a batch; empty where its tensors have no common first dimension."""
    tensors = [tensor for tensor in tensors_in(batch) if tensor.dim()]
    if not tensors or len({len(tensor) for tensor in tensors}) > 1:
        return ()
    return tuple(
        "".join(digest(tensor[place])[:16] for tensor in tensors) for place in range(len(tensors[0]))
    )
