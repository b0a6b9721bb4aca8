"""`Progress`: where training is, down to the batch, for a checkpoint inside an epoch.

A resumed job, of as many ranks or of others, trains on the samples of the epoch that were not trained on yet.
What workers of a loader draw at random is drawn anew.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils.data import DataLoader

from hvdkit.errors import UsageError
from hvdkit.torch.engine import hvd
from hvdkit.torch.sampler import DistributedSampler, ShardedSampler


class Progress:
    """The epoch, the samples that all ranks have had of it, and the random state of every rank.

        progress = hvd.Progress(loader)
        hvd.resume("checkpoint.pt", model=model, optimizer=optimizer, progress=progress, missing_ok=True)
        for epoch in progress.epochs(90):
            for batch in progress.batches():
                ...
                if progress.batch % 500 == 0:
                    hvd.save("checkpoint.pt", model=model, optimizer=optimizer, progress=progress)

    Save after the step of a batch: the batch that the loop is at counts as trained on.

    Args:
        loader: of this rank's share, by `hvd.distribute` or with hvd's DistributedSampler or ShardedSampler.

    Attributes:
        epoch: the current one, from 0; batch: how many this rank has had of it, those of before a resume
            included if there were as many ranks.

    Raises:
        UsageError: the loader has another sampler, or no batch size.
    """

    def __init__(self, loader: DataLoader[Any]) -> None:
        if not isinstance(loader.sampler, (DistributedSampler, ShardedSampler)) or loader.batch_size is None:
            raise UsageError(
                f"the loader has a {type(loader.sampler).__name__} and batch size {loader.batch_size}",
                why="which samples are left of an epoch only hvd's samplers know",
                fix="hvd.Progress(hvd.distribute(loader))",
            )
        self.loader = loader
        self.epoch = 0
        self._samples = 0
        self._random: list[Any] = []
        self._restored = False

    @property
    def batch(self) -> int:
        """Batches of this epoch that a rank has had."""
        return self._samples // self._global_batch

    def epochs(self, number: int) -> Iterator[int]:
        """The epochs that are left of `number`."""
        while self.epoch < number:
            self.loader.sampler.set_epoch(self.epoch)  # type: ignore[attr-defined]
            yield self.epoch
            self.epoch, self._samples = self.epoch + 1, 0

    def batches(self) -> Iterator[Any]:
        """The batches that are left of the epoch."""
        sampler: Any = self.loader.sampler
        sampler.skipped = self._samples
        if not self._samples:
            self._restore()
        try:
            iterator = iter(self.loader)  # draws a seed for its workers, as it did before
            self._restore()
            for batch in iterator:
                self._samples += self._global_batch
                yield batch
        finally:
            sampler.skipped = 0

    def gather(self) -> None:
        """Note the random state of every rank. A collective, which `hvd.save` calls."""
        self._random = hvd.allgather_object(_random_state(), name="hvdkit.progress")

    def state_dict(self) -> dict[str, Any]:
        """For `torch.load` with weights_only=True; the random states are those of the last `gather`."""
        return {"epoch": self.epoch, "samples": self._samples, "random": self._random}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what `state_dict` returned; random numbers follow when the next batches are asked for."""
        self.epoch, self._samples = int(state["epoch"]), int(state["samples"])
        self._random, self._restored = list(state["random"]), False

    @property
    def _global_batch(self) -> int:
        sampler: Any = self.loader.sampler
        return int(self.loader.batch_size or 1) * int(sampler.num_replicas)

    def _restore(self) -> None:
        """Once after a load: a rank that there was not goes on with its own."""
        if self._random and not self._restored and hvd.rank() < len(self._random):
            _set_random_state(self._random[hvd.rank()])
        self._restored = True


def _random_state() -> dict[str, Any]:
    """Of torch, its GPU, Python and NumPy, as tensors, numbers and lists."""
    version, numbers, gauss = random.getstate()
    state: dict[str, Any] = {"torch": torch.get_rng_state(), "python": [version, list(numbers), gauss]}
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        state["cuda"] = torch.cuda.get_rng_state()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        kind, keys, *rest = numpy.random.get_state()
        state["numpy"] = [str(kind), keys.tolist(), *(float(each) for each in rest)]
    return state


def _set_random_state(state: Mapping[str, Any]) -> None:
    torch.set_rng_state(state["torch"])
    version, numbers, gauss = state["python"]
    random.setstate((version, tuple(numbers), gauss))
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])
    numpy = sys.modules.get("numpy")
    if "numpy" in state and numpy is not None:
        kind, keys, position, has_gauss, cached = state["numpy"]
        numpy.random.set_state((kind, keys, int(position), int(has_gauss), cached))
