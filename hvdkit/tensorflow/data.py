"""`shard_dataset()` and `shard_arrays()`: this rank's share of the data, as many samples on each rank.

Ranks with different numbers of batches would wait for each other at the end of the epoch, forever.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf

from hvdkit.errors import HvdkitError, UsageError


class ShardedTooLateError(HvdkitError):
    """The dataset is shuffled already: each rank would take its share of a different order."""


class NothingToShardError(HvdkitError):
    """The dataset is empty."""


def shard_dataset(dataset: Any, *, process_set: Any = hvd.global_process_set) -> Any:
    """Every size-th element of a tf.data.Dataset, from the rank-th on; the same number on every rank.

    Call it right before `shuffle` and `batch`: the batch size stays, per rank.

        dataset = hvd.shard_dataset(tf.data.Dataset.from_tensor_slices((x, y)))
        dataset = dataset.shuffle(10_000).batch(32)

    What does not divide is filled up with the first elements where the length is known, and left out where
    it is not (generators, filters, record files). With as many files as ranks or more, share out the names
    instead of the records, so that each rank reads its own files only, and give `fit` a number of steps:

        files = hvd.shard_dataset(tf.data.Dataset.from_tensor_slices(names))
        dataset = files.interleave(tf.data.TFRecordDataset).repeat().shuffle(10_000).batch(32)

    Raises:
        ShardedTooLateError: a shuffle without a seed is before it, or one whose seed differs between ranks;
            or files are listed in random order.
        NothingToShardError: the dataset has no elements.
    """
    rank, size = process_set.rank(), process_set.size()
    shuffles = [part for part in _upstream(dataset) if "Shuffle" in type(part).__name__]
    if shuffles and not _alike([_seeds(part) for part in shuffles], process_set):
        raise ShardedTooLateError(
            "the dataset is shuffled before it is sharded, not by the same seed on every rank",
            why="each rank shuffles by itself: some samples would be on two ranks and others on none",
            fix="call hvd.shard_dataset before .shuffle(...), or give shuffle a seed; for "
            "tf.data.Dataset.list_files pass shuffle=False, for tensorflow_datasets shuffle_files=False",
        )
    if size == 1:
        return dataset
    count = int(dataset.cardinality())
    if count == 0:
        raise NothingToShardError(
            "the dataset is empty", why="no rank would train on anything", fix="check where it comes from"
        )
    if count == tf.data.INFINITE_CARDINALITY:
        return dataset.shard(size, rank)
    if count == tf.data.UNKNOWN_CARDINALITY:
        return _complete_rounds(dataset, rank, size)
    missing = -count % size
    return (
        dataset.concatenate(dataset.repeat().take(missing)).shard(size, rank)
        if missing
        else dataset.shard(size, rank)
    )


def shard_arrays(*arrays: Any, process_set: Any = hvd.global_process_set) -> Any:
    """Every size-th row of each array, from the rank-th on; the same number on every rank.

    For `model.fit(x, y)`. Rows that do not divide are filled up with the first ones. Takes numpy arrays and
    tensors of equal length in their first dimension; returns one array for one, a tuple for several.

    Raises UsageError for arrays of different lengths, and NothingToShardError for empty ones.
    """
    lengths = {len(array) for array in arrays}
    if len(lengths) != 1:
        raise UsageError(
            f"arrays of {', '.join(map(str, sorted(lengths))) or 'no'} rows",
            fix="pass arrays of the same length, with one row per sample",
        )
    length = lengths.pop()
    if length == 0:
        raise NothingToShardError("the arrays have no rows", why="no rank would train on anything")
    rank, size = process_set.rank(), process_set.size()
    rows = np.arange(-(-length // size)) * size + rank
    shares = tuple(
        tf.gather(array, rows % length) if tf.is_tensor(array) else np.asarray(array)[rows % length]
        for array in arrays
    )
    return shares[0] if len(shares) == 1 else shares


def _seeds(shuffle: Any) -> tuple[int, int] | None:
    """The two numbers that a shuffle draws by; None without them.

    TensorFlow takes two zeros for "none given":
    https://www.tensorflow.org/api_docs/python/tf/random/set_seed
    """
    if not hasattr(shuffle, "_seed") or not hasattr(shuffle, "_seed2"):
        return None
    first, second = int(shuffle._seed), int(shuffle._seed2)
    return (first, second) if first or second else None


def _alike(seeds: list[tuple[int, int] | None], process_set: Any) -> bool:
    """Whether all shuffles have seeds, and the same on every rank: where one has none, no rank is asked."""
    if any(seed is None for seed in seeds):
        return False
    if process_set.size() == 1:
        return True
    everyone = hvd.allgather_object(seeds, process_set=process_set)
    return all(one == seeds for one in everyone)


def _complete_rounds(dataset: Any, rank: int, size: int) -> Any:
    """The rank-th of each `size` elements, without the last ones where they are fewer."""
    structure = dataset.element_spec

    def pick(*parts: Any) -> Any:
        nested = parts if isinstance(structure, tuple) else parts[0]
        return tf.data.Dataset.zip(nested).skip(rank).take(1)

    return dataset.window(size, drop_remainder=True).flat_map(pick)


def _upstream(dataset: Any) -> Iterator[Any]:
    """The dataset and all that it is made from."""
    yield dataset
    for part in dataset._inputs():
        yield from _upstream(part)
