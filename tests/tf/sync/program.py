"""Ways to part the ranks, and ways that are right, in TensorFlow on 2 ranks.

Run by test_tf_sync.py under HVDKIT_CHECK_SYNC=1. Prints one line for each scenario on each rank: its name,
the rank, and the cause that was named.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any, Callable

import numpy as np
import tensorflow as tf

import hvdkit.tensorflow.keras as hvd
from hvdkit.sync.disagreement import OutOfSyncError
from hvdkit.sync.history import HISTORY, History
from hvdkit.tensorflow import DistributedGradientTape

SCENARIOS: dict[str, Callable[[], None]] = {}


def scenario(make: Callable[[], None]) -> Callable[[], None]:
    """A scenario; its name, up to a "__", is the cause that must be named."""
    SCENARIOS[make.__name__] = make
    return make


def network(seed: int) -> Any:
    tf.keras.utils.set_random_seed(seed)
    return tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])


def data() -> tuple[Any, Any]:
    x = np.random.default_rng(hvd.rank()).normal(size=(48, 4)).astype("float32")
    return x, x.sum(axis=1, keepdims=True)


def fit(model: Any, optimizer: Any, **settings: Any) -> None:
    model.compile(optimizer, "mse")
    model.fit(*data(), batch_size=4, verbose=0, **settings)


def loop(model: Any, optimizer: Any, reduce: bool = True, eager: bool = False, after: Any = None) -> None:
    """12 steps around a tape. after: called after the first one."""

    def step(x: Any, y: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        tape = DistributedGradientTape(tape) if reduce else tape
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    take = step if eager else tf.function(step)
    for number, (x, y) in enumerate(tf.data.Dataset.from_tensor_slices(data()).batch(4)):
        take(x, y)
        if number == 0 and after:
            after()


def sgd(rate: float = 0.01) -> Any:
    return tf.keras.optimizers.SGD(rate, momentum=0.9)


@scenario
def healthy__fit() -> None:
    fit(network(hvd.rank()), hvd.DistributedOptimizer(sgd()), callbacks=hvd.callbacks())


@scenario
def healthy__tape() -> None:
    """Broadcast after the first step, as Horovod's examples do."""
    model, optimizer = network(hvd.rank()), sgd()
    loop(model, optimizer, after=lambda: hvd.broadcast(model, optimizer))


@scenario
def no_broadcast__eager_tape() -> None:
    """First of the eager ones: Horovod compiles their reductions, and the history sees that once."""
    loop(network(hvd.rank()), sgd(), eager=True)


@scenario
def healthy__eager_tape() -> None:
    model, optimizer = network(hvd.rank()), tf.keras.optimizers.Adam(0.01)
    hvd.broadcast(model, optimizer)
    loop(model, optimizer, eager=True)


@scenario
def healthy__accumulated() -> None:
    optimizer = hvd.DistributedOptimizer(sgd(), backward_passes_per_step=2)
    fit(network(hvd.rank()), optimizer, callbacks=hvd.callbacks())


@scenario
def healthy__two_optimizers_in_one_step() -> None:
    """And one rank has built one more model for itself, so that Keras' names differ."""
    if hvd.rank() == 0:
        network(5)
    models, optimizers = [network(hvd.rank()), network(hvd.rank())], []
    optimizers = [hvd.DistributedOptimizer(sgd()) for _ in models]
    for model, optimizer in zip(models, optimizers):
        hvd.broadcast(model, optimizer)

    @tf.function
    def step(x: Any, y: Any) -> None:
        for model, optimizer in zip(models, optimizers):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(x) - y) ** 2)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    for x, y in tf.data.Dataset.from_tensor_slices(data()).batch(4):
        step(x, y)


@scenario
def healthy__minimize() -> None:
    model, optimizer = network(hvd.rank()), hvd.DistributedOptimizer(sgd())
    hvd.broadcast(model, optimizer)
    for x, y in tf.data.Dataset.from_tensor_slices(data()).batch(4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        if hasattr(optimizer, "minimize"):
            optimizer.minimize(loss, model.trainable_variables, tape=tape)
        else:  # Keras 3
            optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)


@scenario
def no_broadcast__tape() -> None:
    loop(network(hvd.rank()), sgd())


@scenario
def no_broadcast__train_on_batch() -> None:
    model = network(hvd.rank())
    model.compile(hvd.DistributedOptimizer(sgd()), "mse")
    for x, y in tf.data.Dataset.from_tensor_slices(data()).batch(4):
        model.train_on_batch(x, y)


@scenario
def not_wrapped__fit() -> None:
    """Of a model that only the ranks' data take apart."""
    model = network(0)
    hvd.broadcast(model)
    fit(model, sgd())


@scenario
def not_wrapped__tape() -> None:
    model = network(0)
    hvd.broadcast(model)
    loop(model, sgd(), reduce=False)


@scenario
def learning_rate__tape() -> None:
    model = network(0)
    hvd.broadcast(model)
    loop(model, sgd(0.01 * (1 + hvd.rank())))


@scenario
def resumed_late__fit() -> None:
    model = network(hvd.rank())

    def load(_: Any = None) -> None:
        if hvd.rank() == 0:
            with tempfile.TemporaryDirectory() as folder:
                path = str(Path(folder) / "saved.weights.h5")
                network(7).save_weights(path)
                model.load_weights(path)

    loading = tf.keras.callbacks.LambdaCallback(on_train_begin=load)
    fit(model, hvd.DistributedOptimizer(sgd()), callbacks=hvd.callbacks([loading]))


def main() -> None:
    hvd.init()
    for name, run in SCENARIOS.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        tf.keras.backend.clear_session()  # a plain tape's gradients are found by names, which Keras numbers
        vars(HISTORY).update(vars(History(watched=True)))
        cause = "none"
        try:
            run()
        except OutOfSyncError as error:
            print(f"{name} message: {error}", file=sys.stderr)
            cause = error.cause if error.seen.startswith("after step 1 of ") else error.seen
        print(f"{name} rank {hvd.rank()}: {cause}", flush=True)


if __name__ == "__main__":
    main()
