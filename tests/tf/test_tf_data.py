"""shard_dataset and shard_arrays: all samples, as many on each rank, whatever the length."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import hvdkit.tensorflow as hvd
from hvdkit.errors import UsageError
from hvdkit.tensorflow.data import NothingToShardError, ShardedTooLateError

pytestmark = pytest.mark.ranks


def shares(dataset: Any) -> list[list[Any]]:
    """What each rank gets."""
    return list(hvd.allgather_object([np.asarray(x).tolist() for x in dataset.as_numpy_iterator()]))


@pytest.mark.parametrize("length", [1, 2, 7, 8])
def test_every_sample_once_and_the_tail_filled(length: int) -> None:
    ranks = shares(hvd.shard_dataset(tf.data.Dataset.range(length)))
    assert len(ranks[0]) == len(ranks[1]) == -(-length // 2)
    assert set(ranks[0]) | set(ranks[1]) == set(range(length))
    assert len(ranks[0]) + len(ranks[1]) - length <= 1


def test_an_unknown_length_is_cut_to_complete_rounds() -> None:
    """Tuples of any shape, from a generator."""

    def samples() -> Iterator[Any]:
        for number in range(7):
            yield np.zeros(number, np.float32), number

    spec = (tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32))
    dataset = tf.data.Dataset.from_generator(samples, output_signature=spec)
    share = hvd.shard_dataset(dataset)
    assert share.element_spec == spec
    assert shares(share.map(lambda x, y: y)) == [[0, 2, 4], [1, 3, 5]]
    single = hvd.shard_dataset(tf.data.Dataset.range(7).filter(lambda x: x < 5))
    assert shares(single) == [[0, 2], [1, 3]]


def test_a_dictionary_of_unknown_length() -> None:
    dataset = tf.data.Dataset.range(5).filter(lambda x: x >= 0).map(lambda x: {"x": x})
    share = hvd.shard_dataset(dataset)
    assert shares(share.map(lambda element: element["x"])) == [[0, 2], [1, 3]]


def test_an_endless_dataset() -> None:
    assert shares(hvd.shard_dataset(tf.data.Dataset.range(4).repeat()).take(3)) == [[0, 2, 0], [1, 3, 1]]


def test_files_are_shared_out_by_name(tmp_path: Path) -> None:
    names = []
    for number in range(4):
        path = tmp_path / f"part-{number}"
        with tf.io.TFRecordWriter(str(path)) as writer:
            writer.write(b"%d" % number)
        names.append(str(path))
    files = hvd.shard_dataset(tf.data.Dataset.from_tensor_slices(names))
    records = [int(record) for record in files.interleave(tf.data.TFRecordDataset).as_numpy_iterator()]
    assert hvd.allgather_object(records) == [[0, 2], [1, 3]]


@pytest.fixture
def own_seeds() -> Iterator[None]:
    """What draws without a seed draws by this rank's own: a test before may have seeded all ranks alike."""
    tf.random.set_seed(1 + hvd.rank())
    yield
    tf.random.set_seed(1)


@pytest.mark.usefixtures("own_seeds")
def test_a_shuffle_before_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "part-0").touch()
    for dataset in (
        tf.data.Dataset.range(8).shuffle(8),
        tf.data.Dataset.range(8).shuffle(8, seed=1 + hvd.rank()).map(lambda x: x).batch(2).prefetch(1),
        tf.data.Dataset.list_files(str(tmp_path / "part-*")),
    ):
        with pytest.raises(ShardedTooLateError, match=r"(?s)why: .*fix: .*before .shuffle"):
            hvd.shard_dataset(dataset)
    hvd.shard_dataset(tf.data.Dataset.list_files(str(tmp_path / "part-*"), shuffle=False))


def test_a_shuffle_with_one_seed_is_the_same_order_on_every_rank() -> None:
    ranks = shares(hvd.shard_dataset(tf.data.Dataset.range(8).shuffle(8, seed=1)))
    assert sorted(ranks[0] + ranks[1]) == list(range(8))


def test_nothing_to_share_out() -> None:
    with pytest.raises(NothingToShardError):
        hvd.shard_dataset(tf.data.Dataset.range(0))
    with pytest.raises(NothingToShardError):
        hvd.shard_arrays(np.zeros((0, 2)))


def test_arrays() -> None:
    x, y = hvd.shard_arrays(np.arange(7), tf.range(7) * 10)
    ranks = hvd.allgather_object((x.tolist(), y.numpy().tolist()))
    assert ranks == [([0, 2, 4, 6], [0, 20, 40, 60]), ([1, 3, 5, 0], [10, 30, 50, 0])]
    assert hvd.shard_arrays([1, 2, 3]).tolist() in ([1, 3], [2, 1])
    with pytest.raises(UsageError, match="arrays of 2, 3 rows"):
        hvd.shard_arrays(np.zeros(2), np.zeros(3))
