"""DistributedOptimizer of Keras: the job computes what one process computes on all ranks' batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from keras_models import (
    BATCH,
    close,
    compiled,
    data,
    equal_on_all_ranks,
    everybodys,
    fit,
    mlp,
    own_step,
    trained_alone,
    trained_together,
)

import hvdkit.keras as hvd
from hvdkit.errors import UsageError
from hvdkit.guards import AdasumUnavailableError, NotDistributedError
from hvdkit.keras.backend import BACKEND, IS_KERAS_3, keras

pytestmark = pytest.mark.ranks

OPTIMIZERS = {
    "momentum": lambda: keras.optimizers.SGD(0.05, momentum=0.9),
    # Were a gradient clipped before it is averaged, the weights would be others.
    "clipped": lambda: keras.optimizers.Adam(0.01, global_clipnorm=0.05),
    "decayed": lambda: keras.optimizers.AdamW(0.01, weight_decay=0.1, clipvalue=0.02),
    "scheduled": lambda: keras.optimizers.SGD(
        keras.optimizers.schedules.ExponentialDecay(0.05, decay_steps=2, decay_rate=0.5)
    ),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_job_computes_what_one_process_computes(name: str) -> None:
    together = trained_together(hvd.DistributedOptimizer(OPTIMIZERS[name]()))
    alone = trained_alone(OPTIMIZERS[name]())
    assert equal_on_all_ranks(together)
    assert close(together, alone)


def test_a_train_step_of_its_own_is_reduced_too() -> None:
    model = compiled(own_step(seed=hvd.rank()), hvd.DistributedOptimizer(keras.optimizers.SGD(0.05)))
    fit(model, *data(hvd.rank()), callbacks=hvd.callbacks())
    together = list(model.get_weights())
    assert equal_on_all_ranks(together)
    assert close(together, trained_alone(keras.optimizers.SGD(0.05)))


def test_sum_is_the_average_times_the_ranks() -> None:
    together = trained_together(hvd.DistributedOptimizer(keras.optimizers.SGD(0.05 / hvd.size()), op=hvd.Sum))
    assert close(together, trained_alone(keras.optimizers.SGD(0.05)))


def test_half_precision_on_the_wire() -> None:
    together = trained_together(hvd.DistributedOptimizer(keras.optimizers.SGD(0.05), fp16_allreduce=True))
    alone = trained_alone(keras.optimizers.SGD(0.05))
    assert equal_on_all_ranks(together)
    # float16 has 11 bits: each gradient is off by up to 2**-11 of itself.
    assert close(together, alone, rtol=1e-2, atol=1e-3)
    assert not close(together, alone), "nothing was sent in 16 bits"


def test_predivided_average_is_the_average() -> None:
    together = trained_together(
        hvd.DistributedOptimizer(keras.optimizers.SGD(0.05), gradient_predivide_factor=4.0)
    )
    assert close(together, trained_alone(keras.optimizers.SGD(0.05)))


@pytest.mark.parametrize("mean", [True, False], ids=["mean", "sum"])
def test_accumulated_gradients_are_one_large_batch(mean: bool) -> None:
    """Two passes with batches of BATCH are one step with batches of 2 * BATCH; clipping sees the whole."""
    lr = 0.05 if mean else 0.025
    optimizer = hvd.DistributedOptimizer(
        keras.optimizers.SGD(lr, momentum=0.9),
        backward_passes_per_step=2,
        average_aggregated_gradients=mean,
    )
    together = trained_together(optimizer)
    alone = compiled(mlp(seed=0), keras.optimizers.SGD(0.05, momentum=0.9))
    fit(alone, *everybodys(hvd.size()), batch_size=2 * BATCH * hvd.size())
    assert equal_on_all_ranks(together)
    assert close(together, list(alone.get_weights()))
    assert int(optimizer.iterations) == int(alone.optimizer.iterations)


def test_adasum_combines_updates_under_mpi() -> None:
    """Equal data on all ranks: the combination of equal updates is that update (arXiv:2006.02924)."""
    if not hvd.mpi_enabled():
        with pytest.raises(AdasumUnavailableError, match="does not use MPI"):
            hvd.DistributedOptimizer(keras.optimizers.SGD(0.05), use_adasum=True)
        return
    optimizer = hvd.DistributedOptimizer(keras.optimizers.Adam(0.01), use_adasum=True)
    model = compiled(mlp(seed=0), optimizer)
    fit(model, *data(0), callbacks=hvd.callbacks())
    alone = compiled(mlp(seed=0), keras.optimizers.Adam(0.01))
    fit(alone, *data(0))
    assert close(list(model.get_weights()), list(alone.get_weights()))
    different = trained_together(hvd.DistributedOptimizer(keras.optimizers.SGD(0.05), use_adasum=True))
    assert equal_on_all_ranks(different)


def loss_scaled(inner: Any) -> Any:
    kind = keras.optimizers.LossScaleOptimizer if IS_KERAS_3 else keras.mixed_precision.LossScaleOptimizer
    return kind(inner)


def test_an_overflow_on_one_rank_makes_all_skip() -> None:
    optimizer = hvd.DistributedOptimizer(loss_scaled(keras.optimizers.SGD(0.05)))
    model = compiled(mlp(seed=0), optimizer)
    x, y = data(hvd.rank())
    if hvd.rank() == 1:
        x = x.copy()
        x[0] = np.inf
    before = [array.copy() for array in model.get_weights()]
    fit(model, x[:BATCH], y[:BATCH], epochs=1, callbacks=hvd.callbacks())
    skipped = close(before, list(model.get_weights()), rtol=0, atol=0)
    fit(model, *data(hvd.rank()), callbacks=hvd.callbacks())
    after = list(model.get_weights())
    assert skipped
    assert equal_on_all_ranks(after)
    assert close(after, trained_alone(keras.optimizers.SGD(0.05)))


def test_mixed_precision_scales_inside_the_reduction() -> None:
    """Compile would put the loss scale around the reduction, where ranks could disagree."""
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        optimizer = hvd.DistributedOptimizer(keras.optimizers.SGD(0.01))
        model = compiled(mlp(seed=hvd.rank()), optimizer)
    finally:
        keras.mixed_precision.set_global_policy("float32")
    assert isinstance(optimizer, keras.mixed_precision.LossScaleOptimizer)
    assert model.optimizer is optimizer
    fit(model, *data(hvd.rank()), epochs=1, callbacks=hvd.callbacks())
    assert equal_on_all_ranks(list(model.get_weights()))


def test_the_same_object_with_its_state_comes_back() -> None:
    optimizer = keras.optimizers.Adam(0.01)
    model = compiled(mlp(seed=0), optimizer)
    fit(model, *data(0), epochs=1)
    steps, kind = int(optimizer.iterations), type(optimizer)
    assert hvd.DistributedOptimizer(optimizer) is optimizer
    assert int(optimizer.iterations) == steps
    assert isinstance(optimizer, kind)
    assert type(optimizer).__name__ == "Adam"
    assert hvd.unwrap(optimizer) is optimizer
    assert type(optimizer) is kind
    with pytest.raises(NotDistributedError):
        hvd.unwrap(optimizer)


def test_a_saved_model_goes_on_reducing(keras_path: Path) -> None:
    model = compiled(mlp(seed=hvd.rank()), hvd.DistributedOptimizer(keras.optimizers.Adam(0.01)))
    fit(model, *data(hvd.rank()), epochs=1, callbacks=hvd.callbacks())
    path = keras_path / "model.keras"
    if hvd.rank() == 0:
        model.save(path)
    hvd.broadcast_object(None, name="saved")
    plain = keras.models.load_model(path)
    assert type(plain.optimizer).__mro__[0] is type(keras.optimizers.Adam())
    again = hvd.load_model(path)
    steps = int(again.optimizer.iterations)
    fit(again, *data(hvd.rank()), epochs=1, callbacks=hvd.callbacks())
    fit(model, *data(hvd.rank()), epochs=1, callbacks=hvd.callbacks())
    weights = list(again.get_weights())
    assert steps == 4
    assert equal_on_all_ranks(weights)
    assert close(weights, list(model.get_weights()))


def test_two_optimizers_in_one_program() -> None:
    """A generator and a discriminator: their reductions have names of their own."""
    first, second = mlp(seed=hvd.rank()), mlp(seed=10 + hvd.rank())
    for model in (first, second):
        compiled(model, hvd.DistributedOptimizer(keras.optimizers.Adam(0.01)))
    for _ in range(2):
        for model in (first, second):
            fit(model, *data(hvd.rank()), epochs=1, callbacks=hvd.callbacks())
    assert equal_on_all_ranks([*first.get_weights(), *second.get_weights()])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"use_adasum": True, "op": hvd.Sum}, "use_adasum and a different op"),
        ({"fp16_allreduce": True, "compression": object()}, "compression and fp16"),
        ({"backward_passes_per_step": 0}, "0 backward passes"),
        ({"gradient_predivide_factor": 2.0, "op": hvd.Sum}, "predivide_factor=2.0 with an op"),
    ],
)
def test_arguments_that_contradict_each_other(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        hvd.DistributedOptimizer(keras.optimizers.SGD(0.1), **arguments)


def test_a_compiled_step() -> None:
    """XLA cannot compile a collective, and that is said at once. PyTorch's backend is not compiled here."""
    model = compiled(mlp(seed=0), hvd.DistributedOptimizer(keras.optimizers.SGD(0.05)), jit_compile=True)
    if BACKEND == "tensorflow":
        with pytest.raises(Exception, match=r"compiled by XLA(?s:.)*jit_compile=False"):
            fit(model, *data(hvd.rank()), epochs=1)
