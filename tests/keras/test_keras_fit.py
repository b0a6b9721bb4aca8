"""Callbacks, broadcast, and the small helpers around fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from keras_models import ROWS, compiled, data, equal_on_all_ranks, fit, mlp

import hvdkit.keras as hvd
from hvdkit.errors import UsageError
from hvdkit.keras import guards
from hvdkit.keras.backend import BACKEND, IS_KERAS_3, keras

pytestmark = pytest.mark.ranks


class Seen(keras.callbacks.Callback):  # type: ignore[misc, name-defined]
    """Notes what a callback of one's own sees on this rank."""

    def __init__(self) -> None:
        super().__init__()
        self.rates: list[float] = []
        self.losses: list[float] = []

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.rates.append(float(self.model.optimizer.learning_rate))

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.losses.append(logs["loss"])


def distributed(lr: float = 0.01) -> Any:
    return compiled(mlp(seed=hvd.rank()), hvd.DistributedOptimizer(keras.optimizers.SGD(lr)))


def test_the_list_and_its_order(keras_path: Path) -> None:
    own = [
        keras.callbacks.ModelCheckpoint(str(keras_path / "best.keras")),
        keras.callbacks.ReduceLROnPlateau(),
        keras.callbacks.CSVLogger(str(keras_path / "log.csv")),
    ]
    kinds = [type(callback).__name__ for callback in hvd.callbacks(own, initial_lr=0.1, warmup_epochs=2)]
    first = ["BroadcastGlobalVariablesCallback", "MetricAverageCallback", "LearningRateWarmupCallback"]
    mine = ["ModelCheckpoint", "ReduceLROnPlateau", "CSVLogger"] if hvd.rank() == 0 else ["ReduceLROnPlateau"]
    assert kinds == first + mine
    assert hvd.callbacks.MetricAverageCallback.__name__ == "MetricAverageCallback"


def test_all_callbacks_see_the_mean_over_ranks(keras_path: Path) -> None:
    """And only rank 0 writes."""
    model, seen = distributed(), Seen()
    log = keras_path / f"log{hvd.rank()}.csv"
    history = fit(
        model, *data(hvd.rank()), callbacks=hvd.callbacks([seen, keras.callbacks.CSVLogger(str(log))])
    )
    everybodys = hvd.allgather_object(seen.losses)
    files = hvd.allgather_object(log.exists())
    assert everybodys[0] == everybodys[1] == history.history["loss"]
    assert files == [True, False]


def test_ranks_stop_together() -> None:
    """EarlyStopping on averaged losses decides alike, whatever each rank's own loss does."""
    model = distributed(lr=0.0)
    stop = keras.callbacks.EarlyStopping(monitor="loss", patience=1)
    history = fit(model, *data(hvd.rank()), epochs=6, callbacks=hvd.callbacks([stop]))
    epochs = hvd.allgather_object(len(history.history["loss"]))
    assert epochs[0] == epochs[1] < 6


def test_warm_up_rises_batch_by_batch() -> None:
    model, seen = distributed(lr=hvd.scale_lr(0.01)), Seen()
    callbacks = hvd.callbacks([seen], initial_lr=hvd.scale_lr(0.01), warmup_epochs=2)
    fit(model, *data(hvd.rank()), epochs=3, callbacks=callbacks)
    batches = ROWS // 8
    # From the rate of one process to that of all, by a 1 / (2 * batches)-th of the way each batch.
    expected = [0.01 + 0.01 * min(1.0, (batch + 1) / (2 * batches)) for batch in range(3 * batches)]
    np.testing.assert_allclose(seen.rates, expected, rtol=1e-5)


def test_warm_up_refuses_what_it_cannot_set() -> None:
    with pytest.raises(UsageError, match="warmup_epochs without initial_lr"):
        hvd.callbacks(warmup_epochs=2)
    schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
    model = compiled(mlp(), hvd.DistributedOptimizer(keras.optimizers.SGD(schedule)))
    with pytest.raises(guards.ScheduledLearningRateError, match="ExponentialDecay"):
        fit(model, *data(0), callbacks=hvd.callbacks(initial_lr=0.1, warmup_epochs=1))


def test_backup_and_restore_is_refused(keras_path: Path) -> None:
    with pytest.raises(guards.UnsupportedCallbackError, match="BackupAndRestore"):
        hvd.callbacks([keras.callbacks.BackupAndRestore(str(keras_path))])


def test_broadcast_of_a_model_and_its_optimizer() -> None:
    model = distributed()
    fit(model, *data(hvd.rank()), epochs=1)
    model.set_weights([array + hvd.rank() for array in model.get_weights()])
    model.optimizer.learning_rate = 0.1 * (1 + hvd.rank())
    hvd.broadcast(model, model.optimizer, root_rank=1)
    rates = hvd.allgather_object(float(model.optimizer.learning_rate))
    assert equal_on_all_ranks(list(model.get_weights()))
    assert rates == [pytest.approx(0.2)] * 2


def test_broadcast_of_a_tensor_is_horovods() -> None:
    tensor = keras.ops.convert_to_tensor if IS_KERAS_3 else keras.backend.constant
    sent = hvd.broadcast(tensor([1.0 + hvd.rank()]), 1, name="tensor")
    assert float(sent[0]) == 2.0


def test_a_model_without_weights() -> None:
    model = keras.Sequential([keras.layers.Dense(2)])
    with pytest.raises(guards.NotBuiltError, match="no weights yet"):
        hvd.broadcast(model)


def test_a_model_whose_weights_come_with_the_first_batch() -> None:
    keras.utils.set_random_seed(hvd.rank())
    model = keras.Sequential([keras.layers.Dense(2), keras.layers.Dense(1)])
    compiled(model, hvd.DistributedOptimizer(keras.optimizers.Adam(0.01)))
    fit(model, *data(hvd.rank()), callbacks=hvd.callbacks())
    assert equal_on_all_ranks(list(model.get_weights()))


class InParts(keras.Model):  # type: ignore[misc, name-defined]
    """Its step calls its parts, one of which holds another, and never the model itself."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = keras.Sequential([keras.layers.Dense(4), keras.Sequential([keras.layers.Dense(3)])])
        self.decoder = keras.Sequential([keras.layers.Dense(1)])
        self.unused: Any = None

    def call(self, x: Any) -> Any:
        return self.decoder(self.encoder(x))  # which no step calls; on PyTorch fit itself does, to build it

    def train_step(self, *args: Any) -> dict[str, Any]:
        x, y = args[-1]
        if BACKEND == "torch":
            self.zero_grad()
            loss = keras.ops.mean((self.decoder(self.encoder(x)) - y) ** 2)
            loss.backward()
            variables = [*self.encoder.trainable_variables, *self.decoder.trainable_variables]
            self.optimizer.apply([variable.value.grad for variable in variables], variables)
        else:
            import tensorflow as tf

            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self.decoder(self.encoder(x)) - y) ** 2)
            variables = [*self.encoder.trainable_variables, *self.decoder.trainable_variables]
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return {"loss": loss}


def in_parts() -> Any:
    keras.utils.set_random_seed(hvd.rank())
    model = InParts()
    model.compile(optimizer=hvd.DistributedOptimizer(keras.optimizers.SGD(0.01)))
    return model


def test_a_step_that_calls_the_parts_of_a_model() -> None:
    model = in_parts()
    fit(model, *data(hvd.rank()), callbacks=hvd.callbacks())
    assert len(model.get_weights()) == 6
    assert equal_on_all_ranks(list(model.get_weights()))
    hvd.broadcast(model, root_rank=1)  # again, by hand: it has stepped


def test_a_part_that_the_first_step_leaves_out() -> None:
    model = in_parts()
    model.unused = keras.Sequential([keras.layers.Dense(2, name="left_out")])
    with pytest.raises(guards.NotBuiltError, match="no weights yet in 'left_out'"):
        fit(model, *data(hvd.rank()), callbacks=hvd.callbacks())


def test_numbers_of_fit() -> None:
    assert hvd.verbose(2) == (2 if hvd.rank() == 0 else 0)
    assert hvd.verbose() == ("auto" if hvd.rank() == 0 else 0)
    assert [hvd.steps_per_epoch(steps) for steps in (1, 2, 7, 500)] == [1, 1, 3, 250]
    with pytest.raises(UsageError, match="0 steps"):
        hvd.steps_per_epoch(0)


def test_learning_rates() -> None:
    assert hvd.scale_lr(0.1) == pytest.approx(0.2)
    assert hvd.lr_factor(batches_per_allreduce=3) == 6
    assert hvd.lr_factor(use_adasum=True) == 1
    optimizer = keras.optimizers.Adam(0.1)
    assert hvd.scale_lr(optimizer) is optimizer
    assert float(optimizer.learning_rate) == pytest.approx(0.2)
    with pytest.raises(guards.ScheduledLearningRateError):
        hvd.scale_lr(keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)))


def test_average() -> None:
    assert hvd.average(hvd.rank()) == 0.5
    assert hvd.average({"loss": 1.0 + hvd.rank(), "accuracy": 0.5}) == {"loss": 1.5, "accuracy": 0.5}
    assert hvd.average({}) == {}
