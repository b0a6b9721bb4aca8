"""What a rank draws from its tf.data datasets; and the batches of the other run in place of its own.

Every dataset is iterated through one of two classes, also the arrays that Keras is given, and those that
tf.distribute divides among replicas. There are no indices: samples are told apart by their contents.
"""

from __future__ import annotations

import functools
import itertools
import sys
import threading
from collections.abc import Callable, Iterator
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

from hvdkit.observe.records import GIVEN, PASS_ENDED, TF_DATA, Draw
from hvdkit.observe.tensorflow.arrays import array_of, digest, of_replica, samples
from hvdkit.verify.hook.places import is_own
from hvdkit.verify.hook.seeds import align
from hvdkit.verify.hook.tensorflow.recorder import Recorder
from hvdkit.verify.hook.tensorflow.twin_replay import Replay
from hvdkit.verify.hook.tensorflow.twin_states import restore
from hvdkit.verify.hook.twin_record import Fetched


class Pass:
    """One pass over one dataset. loader: order of first use. epoch: passes before it that trained something.
    begun: updates before it. last: what it gave last. number: among all passes, where they are kept for a
    twin. given: what it gives in a twin."""

    def __init__(self, loader: int, epoch: int, begun: int) -> None:
        self.loader = loader
        self.epoch = epoch
        self.begun = begun
        self.count = 0
        self.last: Any = None
        self.number = -1
        self.given: Iterator[Fetched] | None = None


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
        if before is not None and before.epoch < begun.epoch:
            self.recorder.note_once(PASS_ENDED, f"{before.loader} {before.epoch}")
        if self.recorder.kept:
            begun.number = self.recorder.kept.begin(begun.loader, begun.epoch, _length(dataset))
        if self.recorder.twin:
            begun.given = self.recorder.twin.begin(begun.loader, begun.epoch)
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
    if recorder.twin:
        _shorten(recorder.twin)


def _shorten(twin: Replay) -> None:
    """Let the script find a rank's share where it asks for the length of the data that it trains on."""
    measure, count = DatasetV2.__len__, DatasetV2.cardinality

    @functools.wraps(measure)
    def length(self: Any) -> int:
        found = int(measure(self))
        return twin.length(found) if is_own(sys._getframe(1)) else found

    @functools.wraps(count)
    def cardinality(self: Any) -> Any:
        found = count(self)
        return tf.constant(twin.length(int(found)), found.dtype) if is_own(sys._getframe(1)) else found

    DatasetV2.__len__, DatasetV2.cardinality = length, cardinality


def _fetched(recorder: Recorder, begun: Pass, draw: Callable[[], Any]) -> Any:
    """The next batch of a pass, recorded. Raises tf.errors.OutOfRangeError at its end."""
    settings = recorder.settings
    place = (begun.loader, begun.epoch, begun.count)
    begun.count += 1
    other = None
    if begun.given is not None:
        batch = own = _given(begun.given, begun, draw)
    elif settings.repeat:
        other = _file(Path(settings.repeat), place, 0)
    elif settings.replay:
        other = _file(Path(settings.replay), place, recorder.rank)
    if begun.given is not None:
        recorder.note_once(GIVEN)
    elif other is None or not other.exists():
        batch = own = _drawn(recorder, begun, draw)
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
    if recorder.kept:
        recorder.kept.fetch(begun.number, _flat(batch), recorder.evaluates > 0)
    return batch


def _drawn(recorder: Recorder, begun: Pass, draw: Callable[[], Any]) -> Any:
    """A pass's own next batch; its end is noted."""
    try:
        return draw()
    except tf.errors.OutOfRangeError:
        recorder.note_once(PASS_ENDED, f"{begun.loader} {begun.epoch}")
        if recorder.kept:
            recorder.kept.end(begun.number)
        raise


def _given(given: Iterator[Fetched], begun: Pass, draw: Callable[[], Any]) -> Any:
    """A rank's next batch, in the structure of the pass's own first one."""
    fetched = next(given, None)
    if fetched is None:
        raise tf.errors.OutOfRangeError(None, None, "End of sequence")
    like = begun.last if begun.last is not None else draw()
    parts = [tf.io.parse_tensor(packed, part.dtype) for packed, part in zip(fetched.batch, _flat(like))]
    restore(fetched.states)
    return tf.nest.pack_sequence_as(like, parts, expand_composites=True)


def _drawn_or_last(draw: Callable[[], Any], begun: Pass) -> Any:
    """This rank's own next batch; its last one again where the other run has more of them."""
    try:
        return draw()
    except tf.errors.OutOfRangeError:
        if begun.last is None:
            raise
        return begun.last


def _length(dataset: Any) -> int:
    return int(dataset.cardinality()) if isinstance(dataset, DatasetV2) else -1


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
