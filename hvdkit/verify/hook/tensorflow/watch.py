"""Puts the recorder's calls around the updates of optimizers, tapes, broadcasts and files."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import tensorflow as tf
from tensorflow.python.checkpoint.functional_saver import MultiDeviceSaver
from tensorflow.python.lib.io.file_io import FileIO

from hvdkit.verify.hook.around import before_call
from hvdkit.verify.hook.files import watch_files
from hvdkit.verify.hook.imports import after_import
from hvdkit.verify.hook.seeds import align
from hvdkit.verify.hook.stored import watch_h5py
from hvdkit.verify.hook.tensorflow.recorder import Recorder
from hvdkit.verify.records import DECIDES, STEPS_OF_EPOCH, Event


def watch_updates(kind: Any, method: str) -> None:
    """Record around the method of an optimizer class that updates the variables: see optimizers."""
    update = getattr(kind, method)

    @functools.wraps(update)
    def watched(self: Any, distribution: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
        recorder, pairs = Recorder.of_process(), list(grads_and_vars)
        recorder.before_update(self, pairs)
        result = update(self, distribution, pairs, *args, **kwargs)
        recorder.after_update(self, pairs)
        return result

    setattr(kind, method, watched)


def watch_fit(kind: Any) -> None:
    """Note how many steps an epoch of fit is given. kind: the class that has the method."""
    fit = kind.fit
    takes = inspect.signature(fit)

    @functools.wraps(fit)
    def watched(*args: Any, **kwargs: Any) -> Any:
        steps = takes.bind(*args, **kwargs).arguments.get("steps_per_epoch")
        if steps is not None:
            Recorder.of_process().events.append(Event(STEPS_OF_EPOCH, str(int(steps))))
        return fit(*args, **kwargs)

    kind.fit = watched


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
    gradient, enter = tf.GradientTape.gradient, tf.GradientTape.__enter__
    settings = recorder.settings

    @functools.wraps(gradient)
    def watched(self: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        if settings.world == 1 or settings.repeat or not settings.align:
            numbers = [tf.convert_to_tensor(value) for value in tf.nest.flatten(target)]
            recorder.losses += [float(number) for number in numbers if number.shape.num_elements() == 1]
        return gradient(self, target, *args, **kwargs)

    @functools.wraps(enter)
    def begin(self: Any) -> Any:
        replica = tf.distribute.get_replica_context()
        place = recorder.rank + (int(replica.replica_id_in_sync_group) if replica else 0)
        if settings.repeat:
            place = 0  # on every rank as in the one process
        align(settings, "tape", recorder.taken, place)
        return enter(self)

    tf.GradientTape.gradient = watched
    tf.GradientTape.__enter__ = begin


def watch_broadcasts(module: Any, name: str) -> None:
    """Note when variables are sent: before the first step, or after it, as a loop does whose model gets its
    weights with the first batch.

    module, name: of the function that sends them, Horovod's or hvdkit's.
    """

    def note() -> None:
        recorder = Recorder.of_process()
        recorder.events.append(Event("late broadcast" if recorder.taken else "broadcast"))

    before_call(module, name, note)


def watch_tensorflow_files(recorder: Recorder) -> None:
    """Note what Python writes, and what TensorFlow does: checkpoints, logs for TensorBoard, tf.io."""
    note = watch_files(recorder)
    after_import({"h5py": lambda: watch_h5py(note)})
    save, check, create = MultiDeviceSaver.save, FileIO._prewrite_check, tf.summary.create_file_writer

    @functools.wraps(save)
    def watched_save(self: Any, file_prefix: Any, *args: Any, **kwargs: Any) -> Any:
        note(tf.convert_to_tensor(file_prefix).numpy())
        return save(self, file_prefix, *args, **kwargs)

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
