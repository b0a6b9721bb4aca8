"""Samplers that give each rank its share of one global order, the same number of samples to each.

Not for loaders: `distribute` in data.py puts them into one.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Union

import torch
from torch.utils.data import Dataset, RandomSampler, Sampler, SubsetRandomSampler, WeightedRandomSampler
from torch.utils.data import DistributedSampler as TorchDistributedSampler

from hvdkit.torch.engine import hvd

SeededSampler = Union[RandomSampler, SubsetRandomSampler, WeightedRandomSampler]


class DistributedSampler(TorchDistributedSampler[Any]):
    """torch's DistributedSampler with rank and num_replicas from Horovod instead of a process group.

    Args:
        dataset: a map-style dataset.
        num_replicas, rank: instead of the process set's size and this process's rank in it.
        shuffle: draw a new order for each epoch set with `set_epoch`.
        seed: of the order, the same on all ranks.
        drop_last: leave out the tail that does not divide by num_replicas, instead of repeating the first
            samples to fill it.
        process_set: the ranks that share the data.

    Attributes:
        skipped: samples of the epoch's order, counted over all ranks, that are left out: those that a job
            had before it was resumed. `hvd.Progress` sets it.

    Raises:
        ValueError: Horovod is not initialised, or this rank is not in the process set.
    """

    def __init__(
        self,
        dataset: Dataset[Any],
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
        *,
        process_set: Any = hvd.global_process_set,
    ) -> None:
        super().__init__(
            dataset,
            num_replicas=process_set.size() if num_replicas is None else num_replicas,
            rank=process_set.rank() if rank is None else rank,
            shuffle=shuffle,
            seed=seed,
            drop_last=drop_last,
        )
        self.skipped = 0

    def __iter__(self) -> Iterator[Any]:
        if not self.skipped:
            return super().__iter__()
        # The same draw, whatever the number of ranks: one order of the epoch, without what was skipped.
        whole: TorchDistributedSampler[Any] = TorchDistributedSampler(
            self.dataset, num_replicas=1, rank=0, shuffle=self.shuffle, seed=self.seed
        )
        whole.set_epoch(self.epoch)
        order = list(whole)
        left = order[self.skipped :]
        missing = len(self) * self.num_replicas - len(left)
        left += (order * (missing // max(len(order), 1) + 1))[: max(missing, 0)]
        return iter(left[self.rank : len(self) * self.num_replicas : self.num_replicas])

    def __len__(self) -> int:
        if not self.skipped:
            return super().__len__()
        left = max(len(self.dataset) - self.skipped, 0)  # type: ignore[arg-type]
        return left // self.num_replicas if self.drop_last else -(-left // self.num_replicas)


class ShardedSampler(Sampler[int]):
    """This rank's share of what a random sampler of torch draws: every size-th index, from the rank-th on.

    The order is drawn from `seed` and the epoch, in place of the sampler's generator: the order of the
    ranks cannot part ways, whatever random numbers each has used. A tail that does not divide is filled
    from the order's start, as DistributedSampler does.

    Args:
        sampler: its draw is shared out. All its randomness comes from its attribute `generator`.
        seed: the same on all ranks.
        process_set: the ranks that share the draw.

    Attributes:
        skipped: as DistributedSampler's.
    """

    def __init__(
        self,
        sampler: SeededSampler,
        *,
        seed: int = 0,
        process_set: Any = hvd.global_process_set,
    ) -> None:
        self.sampler = copy.copy(sampler)
        self.seed = seed
        self.num_replicas: int = process_set.size()
        self.rank: int = process_set.rank()
        self.epoch = 0
        self.skipped = 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of the next iteration; the same epoch gives the same order."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        self.sampler.generator = torch.Generator().manual_seed(self.seed + self.epoch)
        order = list(self.sampler)
        left = order[self.skipped :]
        missing = len(self) * self.num_replicas - len(left)
        # A draw shorter than the number of ranks goes round more than once.
        left += (order * (missing // max(len(order), 1) + 1))[:missing]
        return iter(left[self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return -(-max(len(self.sampler) - self.skipped, 0) // self.num_replicas)
