"""Each rank loads its share: equal counts, nothing missing, a new order per epoch, settings kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    IterableDataset,
    RandomSampler,
    Sampler,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)

import hvdkit.torch as hvd
from hvdkit.torch.data import NotDistributableError

DATA = TensorDataset(torch.arange(11))


def drawn(loader: Any, epoch: int = 0) -> list[list[int]]:
    """The samples of each rank in one epoch."""
    loader.sampler.set_epoch(epoch)
    mine = [sample for (batch,) in loader for sample in batch.reshape(-1).tolist()]
    assert len(mine) == len(loader.sampler)
    ranks: list[list[int]] = hvd.allgather_object(mine, name="drawn")
    return ranks


@pytest.mark.ranks
def test_shuffled_loader_is_shared_out() -> None:
    loader = hvd.distribute(DataLoader(DATA, batch_size=3, shuffle=True))
    first, second = drawn(loader), drawn(loader, epoch=1)
    assert [len(rank) for rank in first] == [6, 6], "equal counts: no rank waits for another"
    assert set(first[0]) | set(first[1]) == set(range(11))
    assert len(set(first[0]) & set(first[1])) == 1, "one sample twice, as 11 does not divide by 2"
    assert first != second, "set_epoch draws a new order"
    assert first == drawn(loader), "and the same again"
    assert sorted(first[0]) != first[0]


@pytest.mark.ranks
def test_sequential_loader_keeps_its_order() -> None:
    assert drawn(hvd.distribute(DataLoader(DATA, batch_size=4))) == [[0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9, 0]]


@pytest.mark.ranks
def test_shares_do_not_depend_on_the_random_state_of_a_rank() -> None:
    torch.manual_seed(hvd.rank())
    generator = torch.Generator().manual_seed(hvd.rank())
    samplers = [
        RandomSampler(DATA, generator=generator),
        SubsetRandomSampler([1, 3, 5, 7, 9, 10], generator=generator),
        WeightedRandomSampler([1.0] * 10 + [0.0], 10, replacement=False, generator=generator),
    ]
    expected = [set(range(11)), {1, 3, 5, 7, 9, 10}, set(range(10))]
    shares = [drawn(hvd.distribute(DataLoader(DATA, sampler=sampler))) for sampler in samplers]
    for (zero, one), whole in zip(shares, expected):
        assert len(zero) == len(one)
        assert set(zero) | set(one) == whole
        assert len(set(zero) & set(one)) == len(whole) % 2


@pytest.mark.ranks
def test_samples_with_replacement_are_shared_out() -> None:
    loader = hvd.distribute(DataLoader(DATA, sampler=RandomSampler(DATA, replacement=True, num_samples=100)))
    zero, one = drawn(loader)
    assert len(zero) == len(one) == 50
    assert zero != one
    assert drawn(loader, epoch=1) != [zero, one] == drawn(loader), "the epoch decides the draw"


@pytest.mark.ranks
def test_weights_hold_over_all_ranks() -> None:
    sampler = WeightedRandomSampler([9.0] + [0.1] * 10, 1000)
    zero, one = drawn(hvd.distribute(DataLoader(DATA, batch_size=100, sampler=sampler)))
    assert 850 < (zero + one).count(0) < 950
    assert zero != one


@pytest.mark.ranks
def test_a_draw_shorter_than_the_world_goes_round() -> None:
    shares = drawn(hvd.distribute(DataLoader(DATA, sampler=SubsetRandomSampler([4]))))
    assert shares == [[4], [4]]


@pytest.mark.ranks
def test_workers_and_a_batch_sampler_of_torch() -> None:
    batches = BatchSampler(RandomSampler(DATA), batch_size=3, drop_last=True)
    loader = hvd.distribute(DataLoader(DATA, batch_sampler=batches, num_workers=1))
    zero, one = ([len(batch) for (batch,) in loader] for _ in range(2))
    assert zero == one == [3, 3]
    assert len(loader) == 2


@pytest.mark.ranks
def test_loader_without_batches() -> None:
    assert drawn(hvd.distribute(DataLoader(DATA, batch_size=None)))[1] == [1, 3, 5, 7, 9, 0]


@pytest.mark.horovod
@pytest.mark.ranks
def test_process_set_shares_among_its_own_ranks() -> None:
    counts, error = (0, 0), ""
    alone = hvd.add_process_set([1])
    if hvd.rank() == 1:
        loader = hvd.distribute(DataLoader(DATA), process_set=alone)
        counts = (len(loader.sampler), len(hvd.ShardedSampler(RandomSampler(DATA), process_set=alone)))
    else:
        try:
            hvd.distribute(DataLoader(DATA), process_set=alone)
        except ValueError as caught:
            error = str(caught)
    hvd.remove_process_set(alone)
    assert hvd.DistributedSampler(DATA).num_replicas == 2
    (none, refused), (all_of_it, _) = hvd.allgather_object((counts, error), name="counts")
    assert (none, all_of_it) == ((0, 0), (11, 11))
    assert "not part of provided process set" in refused


def collate(samples: list[Any]) -> list[Any]:
    return samples


def seed_worker(worker: int) -> None:
    torch.manual_seed(worker)


SETTINGS: dict[str, Any] = {
    "batch_size": 3,
    "num_workers": 2,
    "collate_fn": collate,
    "pin_memory": True,
    "drop_last": True,
    "timeout": 5.0,
    "worker_init_fn": seed_worker,
    "multiprocessing_context": "spawn",
    "generator": torch.Generator(),
    "prefetch_factor": 3,
    "persistent_workers": True,
}


def test_no_setting_of_a_loader_is_lost(world_of_one: None) -> None:
    loader = DataLoader(DATA, shuffle=True, **SETTINGS)
    shared = hvd.distribute(loader)
    changed = {
        name for name in {*vars(loader), *vars(shared)} if vars(loader).get(name) != vars(shared).get(name)
    }
    assert changed == {"sampler", "batch_sampler"}, "and nothing else of what this torch's loader holds"
    for name in SETTINGS:
        assert getattr(shared, name) == getattr(loader, name), name
    assert shared.batch_sampler.sampler is shared.sampler
    assert isinstance(loader.sampler, RandomSampler), "the given loader is untouched"


def test_a_loaders_own_class_is_kept(world_of_one: None) -> None:
    class Named(DataLoader[Any]):
        def __init__(self, name: str) -> None:
            super().__init__(DATA, batch_size=2)
            self.name = name

    shared = hvd.distribute(Named("train"))
    assert (type(shared), shared.name, len(shared)) == (Named, "train", 6)


def test_a_distributed_loader_is_returned_as_it_is(world_of_one: None) -> None:
    loader = hvd.distribute(DataLoader(DATA, shuffle=True))
    assert hvd.distribute(loader) is loader
    torchs = torch.utils.data.DistributedSampler(DATA, num_replicas=1, rank=0)
    loader = DataLoader(DATA, batch_sampler=BatchSampler(torchs, 2, False))
    assert hvd.distribute(loader) is loader


def test_another_number_of_ranks_is_refused(world_of_one: None) -> None:
    sampler = torch.utils.data.DistributedSampler(DATA, num_replicas=2, rank=1)
    with pytest.raises(NotDistributableError, match="rank 1 of 2, but this is rank 0 of 1"):
        hvd.distribute(DataLoader(DATA, sampler=sampler))


class Stream(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(range(4))


class Backwards(Sampler[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(range(10, -1, -1))


class Shuffled(RandomSampler):
    """A subclass may take its random numbers from anywhere."""


class Pairs(BatchSampler):
    """So may this."""


@pytest.mark.parametrize(
    ("loader", "seen"),
    [
        (DataLoader(Stream()), "Stream is an IterableDataset"),
        (DataLoader(DATA, sampler=Backwards()), "custom sampler, Backwards"),
        (DataLoader(DATA, sampler=Shuffled(DATA)), "custom sampler, Shuffled"),
        (DataLoader(DATA, sampler=[1, 2]), "custom sampler, list"),
        (DataLoader(DATA, batch_sampler=Pairs(RandomSampler(DATA), 2, False)), "custom batch sampler, Pairs"),
        (
            DataLoader(DATA, sampler=BatchSampler(RandomSampler(DATA), 2, False), batch_size=None),
            "custom sampler, BatchSampler",
        ),
    ],
)
def test_what_cannot_be_shared_out_is_refused_with_what_to_write(
    world_of_one: None, loader: DataLoader[Any], seen: str
) -> None:
    with pytest.raises(NotDistributableError) as caught:
        hvd.distribute(loader)
    assert seen in caught.value.seen
    assert "hvd.rank()" in caught.value.fix


def test_a_sampler_over_part_of_the_data_stays_there(world_of_one: None) -> None:
    loader = hvd.distribute(DataLoader(DATA, sampler=RandomSampler(range(5))))
    assert sorted(loader.sampler) == [0, 1, 2, 3, 4]
    assert len(hvd.distribute(DataLoader(Subset(DATA, [2, 3]), shuffle=True)).sampler) == 2
