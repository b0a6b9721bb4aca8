"""What the loaders of a rank draw and return; another run's order or batches in their place, where asked for.

`_next_index` and `__next__` of torch's loader iterators are where every loader passes, with and without
workers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler
from torch.utils.data.dataloader import _BaseDataLoaderIter

from hvdkit.observe.records import MADE, PASS_AT, PASS_ENDED, SETS_EPOCH, SPLIT, Draw, read_run
from hvdkit.verify.hook.places import place_of
from hvdkit.verify.hook.reached import has_length, note_length
from hvdkit.verify.hook.recorder import Recorder, process_rank
from hvdkit.verify.hook.repeat import keep_batches, kept_batches
from hvdkit.verify.hook.samples import rows
from hvdkit.verify.hook.seeds import align
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.hook.splits import Splits
from hvdkit.verify.hook.tensors import batch_digest
from hvdkit.verify.hook.twin_job import Kept
from hvdkit.verify.hook.twin_record import Begun
from hvdkit.verify.hook.twin_replay import Replay
from hvdkit.verify.hook.twin_states import states

Key = tuple[int, int, int]  # loader, epoch, place in the epoch


@dataclass(frozen=True)
class Pass:
    """One pass over one loader. loader: order of first use. epoch: passes begun before this one."""

    loader: int
    epoch: int
    sampler: str


class Loaders:
    """The loaders of a process, and the pass that was begun last."""

    def __init__(self) -> None:
        self.passes: WeakKeyDictionary[DataLoader[Any], Pass] = WeakKeyDictionary()
        self.count = 0  # of all that were used: those that are gone keep their numbers
        self.made: WeakKeyDictionary[DataLoader[Any], int] = WeakKeyDictionary()  # in the order made
        self.makings = 0
        self.last = Pass(0, 0, "")

    def make(self, loader: DataLoader[Any]) -> int:
        """A loader is made; gives its number among all."""
        self.made[loader] = self.makings
        self.makings += 1
        return self.made[loader]

    def begin(self, loader: DataLoader[Any]) -> Pass:
        """A pass over a loader begins."""
        before = self.passes.get(loader)
        if before is None:
            self.count += 1
        self.last = Pass(
            before.loader if before else self.count - 1,
            before.epoch + 1 if before else 0,
            type(_sampler_of(loader)).__name__,
        )
        self.passes[loader] = self.last
        return self.last


class Given:
    """A pass over a loader in which another run's batches come in the place of its own."""

    def __init__(self, batches: Iterator[Any], length: int, returned: Callable[[Any], None]) -> None:
        self.batches, self.length, self.returned = batches, length, returned

    def __iter__(self) -> Given:
        return self

    def __len__(self) -> int:
        return self.length

    def __next__(self) -> Any:
        batch = next(self.batches)
        self.returned(batch)
        return batch


class Drawn:
    """What one iterator has drawn in its current pass over a data set."""

    def __init__(self, begun: Pass, dataset: Any, number: int = -1) -> None:
        self.begun, self.dataset = begun, dataset
        self.number = number  # among all passes, where they are kept for a twin
        self.count = 0


def _sampler_of(loader: DataLoader[Any]) -> Any:
    """The sampler that decides about the order: a batch sampler of the script's own, else a plain one."""
    batches = loader.batch_sampler
    return loader.sampler if batches is None or type(batches) is BatchSampler else batches


def watch_loaders(recorder: Recorder, kept: Kept | None = None, twin: Replay | None = None) -> None:
    """Record draws and batches; replay, repeat and align where the settings ask for it.

    kept: what is kept for a twin. twin: what this process is given as one.
    """
    settings = recorder.settings
    keep = keep_batches(recorder)
    replay = _draws_of(settings) if settings.replay else {}
    loaders = Loaders()
    splits = splits_of(recorder)
    iterators: WeakKeyDictionary[Any, Drawn] = WeakKeyDictionary()
    build, begin, measure = DataLoader.__init__, DataLoader.__iter__, DataLoader.__len__
    next_index, next_batch = _BaseDataLoaderIter._next_index, _BaseDataLoaderIter.__next__

    def returned(begun: Pass | None, batch: Any) -> None:
        recorder.batches.append(batch_digest(batch))
        if begun is not None:
            recorder.loader, recorder.epoch = begun.loader, begun.epoch
            recorder.contents.append(Draw(begun.loader, begun.epoch, rows(batch)))
            keep(begun.loader, begun.epoch, batch)
        align(settings, "fetched", recorder.batches[-1], len(recorder.batches))

    @functools.wraps(begin)
    def iterate(self: DataLoader[Any]) -> Any:
        begun = loaders.begin(self)
        note_length(recorder, self, begun.loader)
        recorder.note_once(PASS_AT, f"{begun.loader} {begun.epoch} {place_of()}")
        if self in loaders.made:
            recorder.note_once(MADE, f"{begun.loader} {loaders.made[self]}")
        sampler = _sampler_of(self)
        if hasattr(sampler, "set_epoch") and getattr(sampler, "shuffle", True):
            recorder.note_once(SETS_EPOCH, str(begun.loader))
        batches = twin.begin(begun.loader, begun.epoch, _samples(self)) if twin else None
        if batches is not None:
            return Given(batches, len(self) if has_length(self) else 0, functools.partial(returned, begun))
        # Not with the sampler, which is another in the migrated: workers are seeded from this state.
        align(settings, "begin", begun.loader, begun.epoch)
        if settings.repeat:
            given = kept_batches(settings, begun.loader, begun.epoch)
            if given is not None:
                length = len(self) if has_length(self) else 0
                return Given(given, length, functools.partial(returned, begun))
            self.num_workers = self.timeout = 0  # the script's own batches count no more
        number = kept.begin(_begun(self, begun)) if kept else -1
        # Workers are sent their first indices in here; a persistent iterator is used again.
        if self.num_workers and self.persistent_workers and self._iterator is not None:
            iterators[self._iterator] = Drawn(begun, self.dataset, number)
        iterator = begin(self)
        iterators.setdefault(iterator, Drawn(begun, self.dataset, number)).number = number
        return iterator

    @functools.wraps(next_index)
    def draw(self: Any) -> Any:
        drawn = iterators.setdefault(self, Drawn(loaders.last, self._dataset))
        key = (drawn.begun.loader, drawn.begun.epoch, drawn.count)
        drawn.count += 1
        try:
            indices = next_index(self)  # type: ignore[no-untyped-call]
        except StopIteration:
            recorder.note_once(PASS_ENDED, f"{drawn.begun.loader} {drawn.begun.epoch}")
            if key not in replay:
                raise
            indices = None
        indices = _replayed(replay.get(key), indices)
        if any(index is not None for index in _listed(indices)):  # an iterable data set has none
            plain = _plain(indices)
            samples = recorder.bases.samples(drawn.dataset, plain)
            begun = drawn.begun
            recorder.draws.append(Draw(begun.loader, begun.epoch, plain, begun.sampler, samples))
        align(settings, "drawn", key)
        return indices

    @functools.wraps(next_batch)
    def fetch(self: Any) -> Any:
        drawn = iterators.get(self)
        try:
            batch = next_batch(self)
        except StopIteration:
            if drawn:  # an iterable data set ends here alone
                recorder.note_once(PASS_ENDED, f"{drawn.begun.loader} {drawn.begun.epoch}")
            if kept and drawn:
                kept.end(drawn.number)
            raise
        returned(drawn.begun if drawn else None, batch)
        if kept and drawn:
            kept.fetch(drawn.number, batch)
        return batch

    @functools.wraps(build)
    def init(self: DataLoader[Any], *args: Any, **kwargs: Any) -> None:
        build(self, *args, **kwargs)
        given = splits.make(self)
        if given:
            recorder.note_once(SPLIT, given)
        recorder.hold(recorder.bases.pools(loaders.make(self), self))

    @functools.wraps(measure)
    def measured(self: DataLoader[Any]) -> int:
        given = twin.length(_data(self), isinstance(self.sampler, RandomSampler)) if twin else -1
        return given if given >= 0 else measure(self)

    DataLoader.__init__ = init  # type: ignore[method-assign]
    DataLoader.__len__ = measured  # type: ignore[method-assign]
    DataLoader.__iter__ = iterate  # type: ignore[method-assign]
    _BaseDataLoaderIter._next_index = draw  # type: ignore[method-assign]
    _BaseDataLoaderIter.__next__ = fetch  # type: ignore[method-assign]


def splits_of(recorder: Recorder) -> Splits:
    """Of this process: the job's in its twins, the original's where its order is replayed."""
    settings = recorder.settings
    other = settings.twins or settings.replay
    kept = None if other or process_rank() else settings.path
    return Splits(recorder.bases, kept, Path(other) if other else None)


def _data(loader: DataLoader[Any]) -> tuple[str, int]:
    """The class of its data set, and how many samples are in it."""
    dataset = loader.dataset
    return type(dataset).__name__, len(dataset) if isinstance(dataset, Sized) else -1


def _samples(loader: DataLoader[Any]) -> int:
    """Those of one pass; -1 where that is not known."""
    return len(loader.sampler) if isinstance(loader.sampler, Sized) else -1


def _begun(loader: DataLoader[Any], begun: Pass) -> Begun:
    length = len(loader) if has_length(loader) else -1
    return Begun(begun.loader, begun.epoch, _data(loader), length, _samples(loader), states())


def _draws_of(settings: Settings) -> dict[Key, Any]:
    """The draws of rank 0 of another run by their place."""
    run = read_run(Path(settings.replay))
    placed: dict[Key, Any] = {}
    counts: dict[tuple[int, int], int] = {}
    for step in run.steps[0]:
        for draw in step.draws:
            place = counts.get((draw.loader, draw.epoch), 0)
            counts[draw.loader, draw.epoch] = place + 1
            placed[draw.loader, draw.epoch, place] = draw.indices
    return placed


def _replayed(other: tuple[Any, ...] | None, own: Any) -> Any:
    """The other run's draw in the form of this run's; its own where there is none or they are equal."""
    if other is None or (own is not None and _plain(own) == other):
        return own
    return other[0] if isinstance(own, int) else list(other)


def _listed(indices: Any) -> Any:
    return indices if isinstance(indices, (list, tuple, torch.Tensor)) else [indices]


def _plain(indices: Any) -> tuple[Any, ...]:
    """Indices as JSON can hold them."""
    return tuple(int(i) if hasattr(i, "__index__") else repr(i) for i in _listed(indices))
