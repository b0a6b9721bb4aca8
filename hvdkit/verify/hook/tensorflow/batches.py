"""What a rank draws from its tf.data datasets; and the batches of the other run in place of its own.

Every dataset is iterated through one of two classes, also the arrays that Keras is given, and those that
tf.distribute divides among replicas. There are no indices: samples are told apart by their contents.
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import tensorflow as tf
from tensorflow.python.data.ops.dataset_ops import DatasetV2
from tensorflow.python.data.ops.iterator_ops import OwnedIterator
from tensorflow.python.distribute.input_lib import (
    DistributedDataset,
    DistributedDatasetsFromFunction,
    DistributedIteratorBase,
)

from hvdkit.verify.hook.seeds import align
from hvdkit.verify.hook.tensorflow.arrays import array_of, digest, of_replica, samples
from hvdkit.verify.hook.tensorflow.recorder import Recorder
from hvdkit.verify.records import TF_DATA, Draw


class Pass:
    """One pass over one dataset. loader: order of first use. epoch: passes before it that trained something.
    begun: updates before it. last: what it gave last."""

    def __init__(self, loader: int, epoch: int, begun: int) -> None:
        self.loader = loader
        self.epoch = epoch
        self.begun = begun
        self.count = 0
        self.last: Any = None


class Passes:
    """The passes of a process, by dataset and by iterator."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.numbers = itertools.count()
        self.of_dataset: WeakKeyDictionary[Any, Pass] = WeakKeyDictionary()
        self.of_iterator: WeakKeyDictionary[Any, Pass] = WeakKeyDictionary()

    def begin(self, dataset: Any) -> Pass:
        """A pass begins. One before it that trained nothing, as a look at the shapes, does not count."""
        before, taken = self.of_dataset.get(dataset), self.recorder.taken
        if before is None:
            begun = Pass(next(self.numbers), 0, taken)
        elif before.begun < taken:
            begun = Pass(before.loader, before.epoch + 1, taken)
        else:
            begun = Pass(before.loader, before.epoch, taken)
            for seen in self.recorder.seen:
                seen.forget(before.loader)
        self.of_dataset[dataset] = begun
        return begun


def watch_batches(recorder: Recorder) -> None:
    """Record what is drawn, keep it where another run will need it, and replay it there."""
    passes = Passes(recorder)
    inside = threading.local()  # a distributed dataset iterates those that it is made of

    def once(call: Callable[[Any], Any], outermost: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @functools.wraps(call)
        def watched(self: Any) -> Any:
            if getattr(inside, "busy", False) or not tf.executing_eagerly():
                return call(self)
            inside.busy = True
            try:
                return outermost(self)
            finally:
                inside.busy = False

        return watched

    def watch_iteration(kind: Any) -> None:
        begin = kind.__iter__

        def iterate(self: Any) -> Any:
            iterator = begin(self)
            passes.of_iterator[iterator] = passes.begin(self)
            return iterator

        kind.__iter__ = once(begin, iterate)

    def watch_drawing(kind: Any, method: str) -> None:
        draw = getattr(kind, method)

        def fetch(self: Any) -> Any:
            begun = passes.of_iterator.get(self)
            return draw(self) if begun is None else _fetched(recorder, begun, lambda: draw(self))

        setattr(kind, method, once(draw, fetch))

    for kind in (DatasetV2, DistributedDataset, DistributedDatasetsFromFunction):
        watch_iteration(kind)
    watch_drawing(OwnedIterator, "_next_internal")
    watch_drawing(DistributedIteratorBase, "get_next")


def _fetched(recorder: Recorder, begun: Pass, draw: Callable[[], Any]) -> Any:
    """The next batch of a pass, recorded. Raises tf.errors.OutOfRangeError at its end."""
    settings = recorder.settings
    place = (begun.loader, begun.epoch, begun.count)
    begun.count += 1
    other = None
    if settings.repeat:
        other = _file(Path(settings.repeat), place, 0)
    elif settings.replay:
        other = _file(Path(settings.replay), place, recorder.rank)
    if other is None or not other.exists():
        batch = own = draw()
    else:
        own = _drawn_or_last(draw, begun)
        batch = _read(other, own)
        if (
            not settings.repeat and _rows(own) - _rows(batch) >= settings.world
        ):  # not a last batch that is divided otherwise
            batch = own
    begun.last = own
    for k, seen in enumerate(recorder.seen):
        given = _arrays(of_replica(batch, k))
        seen.draws.append(Draw(begun.loader, begun.epoch, samples(given), TF_DATA))
        seen.batches.append(digest(given))
        if settings.align and not settings.replay and not settings.repeat:
            _keep(_file(settings.path, place, k), of_replica(batch, k))
    align(settings, "fetched", *place)
    return batch


def _drawn_or_last(draw: Callable[[], Any], begun: Pass) -> Any:
    """This rank's own next batch; its last one again where the other run has more of them."""
    try:
        return draw()
    except tf.errors.OutOfRangeError:
        if begun.last is None:
            raise
        return begun.last


def _flat(batch: Any) -> list[Any]:
    parts: list[Any] = tf.nest.flatten(batch, expand_composites=True)
    return parts


def _arrays(batch: Any) -> list[np.ndarray[Any, Any]]:
    return [array_of(part) for part in _flat(batch)]


def _rows(batch: Any) -> int:
    return max((int(part.shape[0]) for part in _flat(batch) if part.shape.rank), default=0)


def _file(folder: Path, place: tuple[int, int, int], rank: int) -> Path:
    return folder / "batches" / f"{'-'.join(map(str, (*place, rank)))}.npz"


def _keep(path: Path, batch: Any) -> None:
    """Write a batch of any types: each tensor in TensorFlow's own form."""
    path.parent.mkdir(exist_ok=True)
    parts = [np.frombuffer(tf.io.serialize_tensor(part).numpy(), np.uint8) for part in _flat(batch)]
    with path.open("wb") as file:
        np.savez(file, *parts)


def _read(path: Path, like: Any) -> Any:
    """The batch that was kept, in the structure and types of another."""
    with np.load(path) as kept:
        parts = [
            tf.io.parse_tensor(kept[f"arr_{place}"].tobytes(), part.dtype)
            for place, part in enumerate(_flat(like))
        ]
    return tf.nest.pack_sequence_as(like, parts, expand_composites=True)
