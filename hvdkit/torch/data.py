"""`distribute()`: a DataLoader with the same settings that loads this rank's share of the data.

Only what can be shared out with certainty is; the rest is refused with what to write instead. The shares
themselves are sampler.py's.
"""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from torch.utils.data import (
    BatchSampler,
    DataLoader,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

from hvdkit.errors import HvdkitError
from hvdkit.torch.engine import hvd
from hvdkit.torch.sampler import DistributedSampler, ShardedSampler

_Loader = TypeVar("_Loader", bound="DataLoader[Any]")


class NotDistributableError(HvdkitError):
    """This loader's data cannot be shared out without knowing what the script knows."""


def distribute(loader: _Loader, *, seed: int = 0, process_set: Any = hvd.global_process_set) -> _Loader:
    """A copy of the loader that gives each rank its own share, the same number of samples to each.

    Everything else stays as it was: batch size (per rank), workers, collate function, generator. Call
    `loader.sampler.set_epoch(epoch)` at the start of each epoch for a new order.

    A shuffled loader gets a shuffling `DistributedSampler`, a sequential one keeps its order, torch's
    weighted, subset and with-replacement samplers are shared out by `ShardedSampler`. A loader that already
    loads this rank's share is returned as it is. The tail that does not divide is filled with repeated
    samples; of a validation set these count twice.

    Args:
        loader: not yet iterated by persistent workers; a subclass of DataLoader is fine.
        seed: of the order, the same on all ranks.
        process_set: the ranks that share the data.

    Raises:
        NotDistributableError: iterable datasets, custom samplers and batch samplers, or a loader that is
            distributed over another number of ranks.
    """
    rank, size = process_set.rank(), process_set.size()
    for part in (loader.sampler, loader.batch_sampler, getattr(loader.batch_sampler, "sampler", None)):
        share = (getattr(part, "rank", None), getattr(part, "num_replicas", None))
        if share == (rank, size):
            return loader
        if None not in share:
            raise NotDistributableError(
                f"the loader's {type(part).__name__} is for rank {share[0]} of {share[1]}, "
                f"but this is rank {rank} of {size}",
                why="some samples would be loaded twice and others never",
                fix="build it with num_replicas=hvd.size() and rank=hvd.rank(), "
                "or pass a loader without it to hvd.distribute",
            )
    inner, batch_size, drop_last = _index_sampler(loader)
    sampler = _share(loader, inner, seed, process_set)
    # Copied, not built again: a subclass may have any constructor, and a later torch more settings. Only
    # what DataLoader derives from the sampler changes; it forbids that by assignment, hence __dict__.
    shared = copy.copy(loader)
    shared.__dict__.update(
        sampler=sampler,
        batch_sampler=None if batch_size is None else BatchSampler(sampler, batch_size, drop_last),
        batch_size=batch_size,
        drop_last=drop_last,
        _iterator=None,
    )
    return shared


def _index_sampler(loader: DataLoader[Any]) -> tuple[Any, int | None, bool]:
    """The sampler of single indices, the batch size (None: no batching) and drop_last."""
    if isinstance(loader.dataset, IterableDataset):
        raise NotDistributableError(
            f"{type(loader.dataset).__name__} is an IterableDataset",
            why="it decides itself what it yields: no sampler can give each rank a share, and "
            "with shares of different lengths ranks block",
            fix="in its __iter__, take `itertools.islice(samples, hvd.rank(), None, hvd.size())` (further "
            "divided by torch.utils.data.get_worker_info()), stop after the same number of samples on "
            "every rank, and do not pass the loader to hvd.distribute",
        )
    batches = loader.batch_sampler
    if batches is None:
        return loader.sampler, None, loader.drop_last
    if type(batches) is not BatchSampler:
        raise NotDistributableError(
            f"the loader has a custom batch sampler, {type(batches).__name__}",
            why="only its author knows whether all ranks would draw the same batches, and how many",
            fix="let it yield every hvd.size()-th batch starting at the hvd.rank()-th, in one seeded order, "
            "the same number on every rank; with its attributes rank and num_replicas set, hvd.distribute "
            "leaves the loader as it is",
        )
    return batches.sampler, batches.batch_size, batches.drop_last


def _share(
    loader: DataLoader[Any], sampler: Any, seed: int, process_set: Any
) -> DistributedSampler | ShardedSampler:
    """The sampler that draws this rank's share of what `sampler` draws."""
    kind = type(sampler)
    whole = kind is SequentialSampler or (
        kind is RandomSampler and not sampler.replacement and sampler.num_samples == len(sampler.data_source)
    )
    if whole and len(sampler.data_source) == len(loader.dataset):  # type: ignore[arg-type]
        shuffle = kind is RandomSampler
        return DistributedSampler(loader.dataset, shuffle=shuffle, seed=seed, process_set=process_set)
    # Exactly these classes: they draw from `generator` alone, which a subclass need not.
    if kind in (RandomSampler, SubsetRandomSampler, WeightedRandomSampler):
        return ShardedSampler(sampler, seed=seed, process_set=process_set)
    raise NotDistributableError(
        f"the loader has a custom sampler, {kind.__name__}",
        why="only its author knows whether all ranks would draw the same order from it; "
        "if not, some samples are loaded twice and others never",
        fix="let it yield every hvd.size()-th index starting at the hvd.rank()-th, in one order seeded by "
        "the epoch, the same number on every rank; with its attributes rank and num_replicas set, "
        "hvd.distribute leaves the loader as it is",
    )
