"""The callbacks of a Keras job, and `callbacks(...)`: the right ones in the right order.

Horovod's own need a Keras 2 session backend; these work in Keras 2 and Keras 3, under the same names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hvdkit.errors import UsageError
from hvdkit.keras import guards
from hvdkit.keras.backend import hvd, keras
from hvdkit.keras.broadcast import send, unbuilt
from hvdkit.keras.fit import average
from hvdkit.keras.learning_rate import check_settable

__all__ = ["Callbacks", "callbacks"]

# What only one rank may do: write files, or send them somewhere.
_WRITERS = ("ModelCheckpoint", "TensorBoard", "CSVLogger", "RemoteMonitor")


class BroadcastGlobalVariablesCallback(keras.callbacks.Callback):  # type: ignore[misc]
    """Gives all ranks the weights and optimizer state of `root_rank`; refuses a job that reduces nothing.

    Before the first step; after it, as Horovod's own does, where weights come with the first batch: in a
    subclassed model of Keras 2, or in one whose train_step calls its parts and never the model itself.
    """

    def __init__(self, root_rank: int = 0) -> None:
        super().__init__()
        self.root_rank = root_rank
        self._done = False

    def on_train_begin(self, logs: Any = None) -> None:
        """Raises UnreducedTrainingError or ConditionalReductionError before anything is trained."""
        if type(self.model).train_step is keras.Model.train_step:
            guards.check_training(self.model.optimizer, hvd.size())
        if not unbuilt(self.model):
            self._send(stepped=False)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """The first one sends what could not be sent before."""
        if not self._done:
            self._send(stepped=True)

    def _send(self, stepped: bool) -> None:
        send([self.model], self.model.optimizer, self.root_rank, stepped=stepped)
        self._done = True


class MetricAverageCallback(keras.callbacks.Callback):  # type: ignore[misc]
    """Replaces each epoch's metrics by their mean over ranks, for the callbacks after it and the history."""

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Every rank comes here with the same names."""
        if logs:
            logs.update(average(logs, "epoch"))


class LearningRateWarmupCallback(keras.callbacks.Callback):  # type: ignore[misc]
    """Raises the learning rate from initial_lr / size to initial_lr, batch by batch, in the first epochs.

    Source: Goyal et al. 2017, arXiv:1706.02677, section 2.2; the formula is Horovod's
    (horovod/_keras/callbacks.py). The momentum is not corrected: Keras compiles it into the step.

    initial_lr: the scaled rate, where warm-up ends. steps_per_epoch: where Keras cannot count the batches.
    """

    def __init__(
        self,
        initial_lr: float,
        warmup_epochs: int = 5,
        steps_per_epoch: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__()
        self.initial_lr = initial_lr
        self.warmup_epochs = warmup_epochs
        self.steps_per_epoch = steps_per_epoch
        self.verbose = verbose
        self._epoch = 0

    def on_train_begin(self, logs: Any = None) -> None:
        """Raises ScheduledLearningRateError, or UsageError where the length of an epoch is not known."""
        check_settable(self.model.optimizer)
        self.steps_per_epoch = self.steps_per_epoch or self.params.get("steps")
        if not self.steps_per_epoch:
            raise UsageError(
                "the number of batches in an epoch is not known",
                why="warm-up divides the epochs into batches",
                fix="pass steps_per_epoch to hvd.callbacks, or to fit",
            )

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Remembers the epoch."""
        self._epoch = epoch

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Sets the rate of this batch."""
        if self._epoch < self.warmup_epochs:
            done = self._epoch + (batch + 1) / self.steps_per_epoch  # type: ignore[operator]
            start = 1 / hvd.size()
            self.model.optimizer.learning_rate = self.initial_lr * (
                start + (1 - start) * done / self.warmup_epochs
            )

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Says once that warm-up is over, if asked to."""
        if self.verbose and epoch == self.warmup_epochs - 1 and hvd.rank() == 0:
            print(f"Epoch {epoch + 1}: finished gradual learning rate warmup to {self.initial_lr:g}.")


class Callbacks:
    """`hvd.callbacks(...)`, and under it the callbacks by their names in Horovod."""

    BroadcastGlobalVariablesCallback = BroadcastGlobalVariablesCallback
    MetricAverageCallback = MetricAverageCallback
    LearningRateWarmupCallback = LearningRateWarmupCallback

    def __call__(
        self,
        callbacks: Sequence[Any] = (),
        *,
        initial_lr: float | None = None,
        warmup_epochs: int = 0,
        steps_per_epoch: int | None = None,
        root_rank: int = 0,
    ) -> list[Any]:
        """The callbacks for `fit` on this rank: broadcast, metric average, warm-up if asked for, then yours.

        Of yours, those that write (ModelCheckpoint, TensorBoard, CSVLogger, RemoteMonitor and their
        subclasses) are for rank 0 alone. The others run on all ranks and see averaged metrics, so that
        EarlyStopping and ReduceLROnPlateau decide alike everywhere.

        callbacks: in the order of a job of one process.
        initial_lr, warmup_epochs, steps_per_epoch: see LearningRateWarmupCallback; no warm-up without them.

        Raises UnsupportedCallbackError for BackupAndRestore, and UsageError for warm-up without initial_lr.
        """
        first: list[Any] = [BroadcastGlobalVariablesCallback(root_rank), MetricAverageCallback()]
        if warmup_epochs:
            if initial_lr is None:
                raise UsageError(
                    "warmup_epochs without initial_lr", fix="pass the learning rate after warm-up"
                )
            first.append(LearningRateWarmupCallback(initial_lr, warmup_epochs, steps_per_epoch))
        for callback in callbacks:
            _check_supported(callback)
        return first + [
            callback for callback in callbacks if hvd.rank() == root_rank or not _writes(callback)
        ]


callbacks = Callbacks()


def _writes(callback: Any) -> bool:
    found = (getattr(keras.callbacks, name, None) for name in _WRITERS)
    return isinstance(callback, tuple(kind for kind in found if kind is not None))


def _check_supported(callback: Any) -> None:
    if isinstance(callback, keras.callbacks.BackupAndRestore):
        raise guards.UnsupportedCallbackError(
            "BackupAndRestore is among the callbacks",
            why="it resumes from the epoch in its own files: on one rank only, the ranks diverge; on all, "
            "they overwrite each other's files",
            fix="keep a ModelCheckpoint; to resume, load it on all ranks and give fit the same initial_epoch",
        )
