"""A resume inside an epoch trains what an undisturbed run trains, sample by sample and bit by bit."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

import hvdkit.torch as hvd
from hvdkit.errors import UsageError

pytestmark = pytest.mark.ranks

DATA = TensorDataset(torch.arange(22.0).view(22, 1))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The same on all ranks."""
    return Path(hvd.broadcast_object(str(tmp_path), name="path")) / "checkpoint.pt"


def everywhere(value: Any) -> list[Any]:
    return list(hvd.allgather_object(value, name="everywhere"))


class Training:
    """With dropout, and a number of Python's and of NumPy's at each step."""

    def __init__(self, workers: int = 0, sampler: Any = None) -> None:
        torch.manual_seed(hvd.rank())
        random.seed(hvd.rank())
        numpy.random.seed(hvd.rank())
        self.model = nn.Sequential(nn.Linear(1, 4), nn.Dropout(0.5), nn.Linear(4, 1))
        self.optimizer = hvd.DistributedOptimizer(torch.optim.SGD(self.model.parameters(), 0.01), self.model)
        loader = DataLoader(DATA, batch_size=2, shuffle=sampler is None, sampler=sampler, num_workers=workers)
        self.progress = hvd.Progress(hvd.distribute(loader))

    def steps(self, epochs: int) -> Iterator[list[float]]:
        """The samples of each step, after it."""
        for epoch in self.progress.epochs(epochs):
            for (batch,) in self.progress.batches():
                self.optimizer.zero_grad()
                scale = random.random() + numpy.random.rand() + epoch
                (self.model(batch / 22).square().mean() * scale).backward()
                self.optimizer.step()
                yield batch.flatten().tolist()

    def weights(self) -> list[float]:
        return torch.cat([each.detach().flatten() for each in self.model.parameters()]).tolist()


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("stop", [1, 4, 6, 8])
def test_the_rest_is_that_of_an_undisturbed_run(path: Path, stop: int, workers: int) -> None:
    """6 steps an epoch: stopped inside the first, behind it, and inside the second."""
    whole, first, second = Training(workers), Training(workers), Training(workers)
    hvd.broadcast(whole.model, whole.optimizer)
    undisturbed = list(whole.steps(2))
    first = Training(workers)
    hvd.broadcast(first.model, first.optimizer)
    for number, _ in enumerate(first.steps(2), 1):
        if number == stop:
            hvd.save(path, model=first.model, optimizer=first.optimizer, progress=first.progress)
            break
    second = Training(workers)
    random.random(), torch.rand(3), numpy.random.rand()
    hvd.resume(path, model=second.model, optimizer=second.optimizer, progress=second.progress)
    at = second.progress.epoch, second.progress.batch
    rest = list(second.steps(2))
    found = everywhere((at, undisturbed[stop:] == rest, whole.weights() == second.weights()))
    assert found == [((stop // 7, stop - 6 * (stop // 7)), True, True)] * hvd.size()


def test_without_a_file_every_rank_starts_from_rank_0(path: Path) -> None:
    training = Training()
    rest = hvd.resume(
        path, missing_ok=True, model=training.model, optimizer=training.optimizer, progress=training.progress
    )
    found = everywhere((rest, training.progress.epoch, training.progress.batch, training.weights()))
    assert found == [found[0]] * hvd.size() and found[0][:3] == ({}, 0, 0)


def test_rank_0_alone_decides_whether_there_is_a_file(tmp_path: Path) -> None:
    """Each rank has a folder of its own, and only the others have a file."""
    training = Training()
    if hvd.rank():
        torch.save({"model": {}}, tmp_path / "checkpoint.pt")
    rest = hvd.resume(tmp_path / "checkpoint.pt", missing_ok=True, model=training.model)
    assert everywhere(rest) == [{}] * hvd.size()


@pytest.mark.parametrize("drop_last", [False, True])
def test_another_number_of_ranks_trains_on_the_rest(drop_last: bool) -> None:
    def shares(size: int, skipped: int) -> list[int]:
        found: list[list[int]] = []
        for rank in range(size):
            sampler = hvd.DistributedSampler(DATA, size, rank, drop_last=drop_last, seed=5)
            sampler.set_epoch(3)
            sampler.skipped = skipped
            found.append(list(sampler))
            assert len(found[-1]) == len(sampler)
        return [index for together in zip(*found) for index in together]

    order = shares(1, 0)
    assert sorted(order) == list(range(22))
    assert shares(4, 8) == (order[8:20] if drop_last else [*order[8:], *order[:2]])
    assert shares(3, 8)[:12] == order[8:20]
    assert shares(2, 22) == []


def test_sampled_shares_go_on_too(path: Path) -> None:
    def training() -> Training:
        return Training(sampler=WeightedRandomSampler(torch.arange(1.0, 23.0), 22))

    undisturbed, first, second = list(training().steps(1)), training(), training()
    for number, _ in enumerate(first.steps(1), 1):
        if number == 2:
            hvd.save(path, progress=first.progress)
            break
    hvd.resume(path, progress=second.progress)
    assert everywhere(undisturbed[2:] == list(second.steps(1))) == [True] * hvd.size()


def test_other_loaders_are_refused() -> None:
    with pytest.raises(UsageError, match="RandomSampler"):
        hvd.Progress(DataLoader(DATA, batch_size=2, shuffle=True))
