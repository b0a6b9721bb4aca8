"""DistributedGradientTape: the gradients of all ranks, for Keras' variables and TensorFlow's own."""

from __future__ import annotations

from typing import Any

import horovod.tensorflow as horovod
import numpy as np
import pytest
import tensorflow as tf

import hvdkit.tensorflow as hvd
from hvdkit.errors import UsageError
from hvdkit.guards import AdasumUnavailableError
from hvdkit.keras.guards import ReducedTwiceError

pytestmark = pytest.mark.ranks

ROWS = 16


def data(rank: int) -> Any:
    x = np.random.default_rng(rank).normal(size=(ROWS, 4)).astype("float32")
    return x, x.sum(axis=1, keepdims=True)


def mlp(seed: int) -> Any:
    tf.keras.utils.set_random_seed(seed)
    return tf.keras.Sequential(
        [tf.keras.Input((4,)), tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(1)]
    )


def train(model: Any, optimizer: Any, x: Any, y: Any, steps: int, **tape_arguments: Any) -> list[np.ndarray]:
    """A loop as TensorFlow's guide writes it; with tape_arguments in a job, and without in one process."""

    @tf.function
    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        if tape_arguments:
            tape = hvd.DistributedGradientTape(tape, **tape_arguments)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    if tape_arguments:
        hvd.broadcast(model, optimizer)
    for _ in range(steps):
        step()
    return list(model.get_weights())


def alone(optimizer: Any, steps: int = 3) -> list[np.ndarray]:
    shares = [data(rank) for rank in range(hvd.size())]
    x, y = (np.concatenate([share[part] for share in shares]) for part in (0, 1))
    return train(mlp(0), optimizer, x, y, steps)


def together(optimizer: Any, steps: int = 3, **tape_arguments: Any) -> list[list[np.ndarray]]:
    """The weights of all ranks."""
    weights = train(mlp(hvd.rank()), optimizer, *data(hvd.rank()), steps, **tape_arguments)
    return list(hvd.allgather_object(weights))


def agree(weights: list[list[np.ndarray]]) -> bool:
    return all(np.array_equal(a, b) for others in weights for a, b in zip(weights[0], others))


def close(ours: list[np.ndarray], theirs: list[np.ndarray], rtol: float = 1e-4, atol: float = 1e-6) -> bool:
    return all(np.allclose(a, b, rtol=rtol, atol=atol) for a, b in zip(ours, theirs))


def test_a_job_computes_what_one_process_computes() -> None:
    ranks = together(tf.keras.optimizers.Adam(0.01), op=hvd.Average)
    assert agree(ranks)
    assert close(ranks[0], alone(tf.keras.optimizers.Adam(0.01)))


def test_half_precision_on_the_wire() -> None:
    ranks = together(tf.keras.optimizers.SGD(0.05), fp16_allreduce=True)
    single = alone(tf.keras.optimizers.SGD(0.05))
    assert agree(ranks)
    assert close(ranks[0], single, rtol=1e-2, atol=1e-3)
    assert not close(ranks[0], single), "nothing was sent in 16 bits"


def test_adasum_under_mpi() -> None:
    """Equal gradients combine to themselves (arXiv:2006.02924)."""
    if not hvd.mpi_enabled():
        with pytest.raises(AdasumUnavailableError, match="does not use MPI"):
            hvd.DistributedGradientTape(tf.GradientTape(), use_adasum=True)
        return
    weights = train(mlp(0), tf.keras.optimizers.SGD(0.05), *data(0), 3, use_adasum=True)
    assert close(weights, train(mlp(0), tf.keras.optimizers.SGD(0.05), *data(0), 3))
    assert agree(together(tf.keras.optimizers.SGD(0.05), use_adasum=True))


def test_gradients_come_in_the_nest_of_the_sources() -> None:
    w = tf.Variable(2.0 + hvd.rank())
    unused = tf.Variable(1.0)
    layer = tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
    with tf.GradientTape(persistent=True) as tape:
        y = w * w + tf.reduce_sum(layer(tf.ones([1, 3])) * (1.0 + hvd.rank()))
    reduced = hvd.DistributedGradientTape(tape)
    nested = reduced.gradient(y, {"w": w, "layer": [layer.kernel], "unused": unused})
    single = reduced.gradient(y, w)
    assert float(nested["w"]) == float(single) == 5.0  # the mean of 4 and 6
    np.testing.assert_array_equal(nested["layer"][0], np.full((3, 1), 1.5))
    assert nested["unused"] is None


@pytest.mark.parametrize("module", [hvd, horovod], ids=["hvdkit", "horovod"])
def test_a_gradient_taken_while_the_tape_records(module: Any) -> None:
    """What HVD713 writes there; wrapped inside the `with`, the tape would refuse."""
    weights = tf.Variable([1.0, 2.0])
    with module.DistributedGradientTape(tf.GradientTape()) as tape:
        (gradient,) = tape.gradient(tf.reduce_sum(weights * hvd.rank()), [weights])
    np.testing.assert_array_equal(gradient, [(hvd.size() - 1) / 2] * 2)


def test_embeddings_are_reduced_by_row() -> None:
    table = tf.Variable(tf.zeros([4, 2]))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, [hvd.rank()]))
    gradient = hvd.DistributedGradientTape(tape).gradient(loss, table)
    assert isinstance(gradient, tf.IndexedSlices)
    dense = tf.convert_to_tensor(gradient).numpy()
    np.testing.assert_array_equal(dense, [[0.5, 0.5], [0.5, 0.5], [0, 0], [0, 0]])


def test_bfloat16_gradients() -> None:
    w = tf.Variable(tf.cast([1.0 + hvd.rank()], tf.bfloat16))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    gradient = hvd.DistributedGradientTape(tape).gradient(loss, w)
    assert gradient.dtype == tf.bfloat16
    assert float(gradient[0]) == 3.0


def test_reduced_twice_is_refused() -> None:
    model, x = mlp(0), tf.ones([2, 4])
    optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    gradients = hvd.DistributedGradientTape(tape).gradient(loss, model.trainable_variables)
    with pytest.raises(ReducedTwiceError, match=r"(?s)why: .*fix: "):
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))


def test_the_plain_tape_with_a_distributed_optimizer() -> None:
    optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.05))
    model = mlp(hvd.rank())
    hvd.broadcast(model, optimizer)
    weights = train(model, optimizer, *data(hvd.rank()), 3)
    ranks = list(hvd.allgather_object(weights))
    assert agree(ranks)
    assert close(ranks[0], alone(tf.keras.optimizers.SGD(0.05)))


def test_xla_is_refused() -> None:
    w = tf.Variable(1.0)

    @tf.function(jit_compile=True)
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = w * w
        return hvd.DistributedGradientTape(tape).gradient(loss, w)

    # AutoGraph raises an error of its own with the text of the first one.
    with pytest.raises(Exception, match=r"(?s)JitCompileError: .*compiled by XLA.*why: .*jit_compile=False"):
        step()


def test_arguments_that_contradict_each_other() -> None:
    with pytest.raises(UsageError, match="use_adasum and a different op"):
        hvd.DistributedGradientTape(tf.GradientTape(), use_adasum=True, op=hvd.Sum)
