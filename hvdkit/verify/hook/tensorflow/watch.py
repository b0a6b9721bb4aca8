"""Puts the recorder's calls around the updates of optimizers, tapes, broadcasts and files."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import tensorflow as tf
from tensorflow.python.checkpoint.functional_saver import MultiDeviceSaver
from tensorflow.python.lib.io.file_io import FileIO

from hvdkit.observe.around import before_call
from hvdkit.observe.imports import after_import
from hvdkit.observe.records import DECIDES, STEPS_OF_EPOCH, Event, Saved, Tensor
from hvdkit.observe.tensorflow.arrays import digest
from hvdkit.observe.tensorflow.optimizers import rate_of
from hvdkit.verify.hook.files import watch_files
from hvdkit.verify.hook.places import place_of
from hvdkit.verify.hook.seeds import align
from hvdkit.verify.hook.stored import watch_h5py
from hvdkit.verify.hook.tensorflow.recorder import Recorder
from hvdkit.verify.hook.tensorflow.variables import native


def watch_updates(kind: Any, method: str) -> None:
    """Record around the method of an optimizer class that updates the variables: see optimizers."""
    update = getattr(kind, method)

    @functools.wraps(update)
    def watched(self: Any, distribution: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
        recorder = Recorder.of_process()
        pairs: Sequence[tuple[Any, Any]] = list(grads_and_vars)
        order, at = recorder.order_of(self), None
        if recorder.twin:
            pairs, at = recorder.twin.before_update(self, order, pairs, recorder.events)
            args = at.arguments(args)
        recorder.before_update(self, pairs, at.rate if at else rate_of(self))
        result = update(self, distribution, pairs, *args, **kwargs)
        if recorder.kept:
            recorder.kept.step(order, recorder.rates[0], pairs)
        recorder.after_update(self, pairs)
        if recorder.twin and at:
            recorder.twin.after_update(at)
        return result

    setattr(kind, method, watched)


def watch_fit(kind: Any) -> None:
    """Note how many steps an epoch of fit is given, and what does not train. kind: the class that has the
    methods."""
    fit = kind.fit
    takes = inspect.signature(fit)
    for name in ("evaluate", "predict"):
        setattr(kind, name, _evaluating(getattr(kind, name)))

    @functools.wraps(fit)
    def watched(*args: Any, **kwargs: Any) -> Any:
        steps = takes.bind(*args, **kwargs).arguments.get("steps_per_epoch")
        if steps is not None:
            Recorder.of_process().events.append(Event(STEPS_OF_EPOCH, str(int(steps))))
        Recorder.of_process().fits = True
        return fit(*args, **kwargs)

    kind.fit = watched


def watch_steps_of_fit(kind: Any) -> None:
    """Keep how many steps an epoch of fit has, or give a twin the job's.

    kind: what finds it anew for each epoch, for fit and for the evaluations in it.
    """
    infer = kind._infer_steps
    of_fits: WeakKeyDictionary[Any, int | None] = WeakKeyDictionary()

    @functools.wraps(infer)
    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        recorder, steps = Recorder.of_process(), infer(self, *args, **kwargs)
        follows = recorder.kept or recorder.twin
        if recorder.fits and follows:
            of_fits[self] = follows.steps_of_fit(steps)
        recorder.fits = False
        return of_fits.get(self, steps)

    kind._infer_steps = watched


def watch_epochs_of_fit(kind: Any) -> None:
    """The same in Keras 3. kind: what iterates over the epochs of one call, fit's before those of its
    evaluations. It counts the batches of its data anew when it is reset, after a model is built."""
    build, reset = kind.__init__, kind.reset
    of_fits: WeakKeyDictionary[Any, int | None] = WeakKeyDictionary()

    @functools.wraps(build)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        build(self, *args, **kwargs)
        recorder = Recorder.of_process()
        follows = recorder.kept or recorder.twin
        if recorder.fits and follows:
            self.steps_per_epoch = follows.steps_of_fit(self.steps_per_epoch)
            self._num_batches = of_fits[self] = follows.steps_of_fit(self._num_batches)
        recorder.fits = False

    @functools.wraps(reset)
    def again(self: Any) -> None:
        reset(self)
        self._num_batches = of_fits.get(self, self._num_batches)

    kind.__init__, kind.reset = init, again


def _evaluating(method: Any) -> Any:
    @functools.wraps(method)
    def watched(*args: Any, **kwargs: Any) -> Any:
        recorder = Recorder.of_process()
        recorder.evaluates += 1
        try:
            return method(*args, **kwargs)
        finally:
            recorder.evaluates -= 1

    return watched


def watch_decisions(callbacks: Any) -> None:
    """Note the metric that a callback goes by, as it is given it: after those that average come first.

    callbacks: the module that has the classes, in Keras 2 and 3.
    """
    for kind in (callbacks.EarlyStopping, callbacks.ReduceLROnPlateau):
        kind.on_epoch_end = _noted(kind.__name__, kind.on_epoch_end)


def _noted(name: str, decide: Any) -> Any:
    @functools.wraps(decide)
    def on_epoch_end(self: Any, epoch: int, logs: Any = None) -> None:
        if logs and self.monitor in logs:
            detail = f"{name} {self.monitor} {epoch} {float(logs[self.monitor])!r}"
            Recorder.of_process().events.append(Event(DECIDES, detail))
        decide(self, epoch, logs)

    return on_epoch_end


def watch_tapes(recorder: Recorder) -> None:
    """Note each number whose gradient is taken, and set the random state where a tape begins.

    A strategy scales the loss of each replica so that the sum is right, which a rank does not: no losses
    there.
    """
    gradient, enter, leave = (
        getattr(tf.GradientTape, name) for name in ("gradient", "__enter__", "__exit__")
    )
    settings = recorder.settings
    recording: list[Any] = []

    @functools.wraps(gradient)
    def watched(self: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
        if settings.world == 1 or settings.repeat or not settings.align:
            numbers = [tf.convert_to_tensor(value) for value in tf.nest.flatten(target)]
            recorder.losses += [float(number) for number in numbers if number.shape.num_elements() == 1]
        found = gradient(self, target, sources, *args, **kwargs)
        # The gradient of a gradient is taken by a tape around this one, of what this one gives.
        if any(tape is not self for tape in recording) or not all(
            map(_is_variable, tf.nest.flatten(sources))
        ):
            return found
        recorder.before_gradient()
        if recorder.kept:
            recorder.kept.gradient()
        return recorder.twin.gradient(found) if recorder.twin else found

    @functools.wraps(enter)
    def begin(self: Any) -> Any:
        replica = tf.distribute.get_replica_context()
        place = recorder.rank + (int(replica.replica_id_in_sync_group) if replica else 0)
        if settings.repeat:
            place = 0  # on every rank as in the one process
        align(settings, "tape", recorder.taken, place)
        if recorder.twin:
            recorder.twin.enter()
        recording.append(self)
        return enter(self)

    @functools.wraps(leave)
    def end(self: Any, *args: Any) -> None:
        recording.remove(self)
        leave(self, *args)

    tf.GradientTape.gradient, tf.GradientTape.__enter__, tf.GradientTape.__exit__ = watched, begin, end


def _is_variable(source: Any) -> bool:
    return isinstance(native(source), tf.Variable)


def watch_broadcasts(module: Any, name: str) -> None:
    """Note when variables are sent: before the first step, or after it, as a loop does whose model gets its
    weights with the first batch.

    module, name: of the function that sends them, Horovod's or hvdkit's.
    """

    def note() -> None:
        recorder = Recorder.of_process()
        recorder.events.append(Event("late broadcast" if recorder.taken else "broadcast"))
        if recorder.kept:
            recorder.kept.send()

    before_call(module, name, note)


def _of_checkpoint(prefix: str) -> Iterator[Tensor]:
    """Every number in it, by its name there."""
    reader = tf.train.load_checkpoint(prefix)
    for name in sorted(reader.get_variable_to_shape_map()):
        array = np.asarray(reader.get_tensor(name))
        if array.dtype.kind not in "OSU":  # else the graph of the objects that were saved
            yield Tensor(name, array.shape, str(array.dtype), digest([array]), 0.0)


def watch_tensorflow_files(recorder: Recorder) -> None:
    """Note what Python writes, and what TensorFlow does: checkpoints, logs for TensorBoard, tf.io."""
    note = watch_files(recorder)
    after_import({"h5py": lambda: watch_h5py(note)})
    save, check, create = MultiDeviceSaver.save, FileIO._prewrite_check, tf.summary.create_file_writer

    @functools.wraps(save)
    def watched_save(self: Any, file_prefix: Any, *args: Any, **kwargs: Any) -> Any:
        prefix = os.fsdecode(tf.convert_to_tensor(file_prefix).numpy())
        name = note(prefix)
        result = save(self, file_prefix, *args, **kwargs)
        if name:
            recorder.saved.append(Saved(name, tuple(_of_checkpoint(prefix)), place_of()))
        return result

    @functools.wraps(check)
    def watched_check(self: Any) -> None:
        if not self._writable_file:
            note(self._FileIO__name)
        check(self)

    @functools.wraps(create)
    def watched_create(logdir: Any, *args: Any, **kwargs: Any) -> Any:
        note(logdir)
        return create(logdir, *args, **kwargs)

    MultiDeviceSaver.save = watched_save
    FileIO._prewrite_check = watched_check
    tf.summary.create_file_writer = watched_create
