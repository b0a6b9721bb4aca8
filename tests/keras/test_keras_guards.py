"""Each mistake around a Keras job is refused with its own error, before a step is taken."""

from __future__ import annotations

from typing import Any

import pytest
from keras_models import OwnStep, compiled, data, equal_on_all_ranks, fit, mlp

import hvdkit.keras as hvd
from hvdkit.guards import AlreadyDistributedError, ForeignOptimizerError
from hvdkit.keras import guards
from hvdkit.keras.backend import BACKEND, IS_KERAS_3, keras

pytestmark = pytest.mark.ranks


def refused(error: type[Exception], *words: str) -> Any:
    return pytest.raises(error, match="(?s)" + ".*".join(words) + ".*why: .*fix: ")


def test_a_job_that_reduces_nothing() -> None:
    model = compiled(mlp(), keras.optimizers.SGD(0.1))
    with refused(guards.UnreducedTrainingError, "no DistributedOptimizer", "2 ranks"):
        fit(model, *data(0), callbacks=hvd.callbacks())


def test_horovods_own_optimizer() -> None:
    if BACKEND == "torch":
        import torch

        with refused(ForeignOptimizerError, "torch.optim.sgd.SGD is not an optimizer of the Keras"):
            hvd.DistributedOptimizer(torch.optim.SGD([torch.zeros(1)], lr=0.1))
        return
    import horovod.tensorflow.keras as horovods

    optimizer = horovods.DistributedOptimizer(keras.optimizers.SGD(0.1))
    with refused(AlreadyDistributedError, "Horovod's own"):
        hvd.DistributedOptimizer(optimizer)
    model = compiled(mlp(), optimizer)
    with refused(guards.UnreducedTrainingError, "by Horovod's own DistributedOptimizer"):
        fit(model, *data(0), callbacks=hvd.callbacks())


def test_wrapped_twice() -> None:
    optimizer = hvd.DistributedOptimizer(keras.optimizers.SGD(0.1))
    with refused(AlreadyDistributedError, "already a DistributedOptimizer"):
        hvd.DistributedOptimizer(optimizer)


def test_not_an_optimizer() -> None:
    with refused(ForeignOptimizerError, "builtins.str is not an optimizer of the Keras"):
        hvd.DistributedOptimizer("adam")


def test_loss_scale_around_the_reduction() -> None:
    kind = keras.optimizers.LossScaleOptimizer if IS_KERAS_3 else keras.mixed_precision.LossScaleOptimizer
    model = compiled(mlp(), kind(hvd.DistributedOptimizer(keras.optimizers.SGD(0.1))))
    with refused(guards.ConditionalReductionError, "around the DistributedOptimizer"):
        fit(model, *data(0), callbacks=hvd.callbacks())


def distributed() -> Any:
    return hvd.DistributedOptimizer(keras.optimizers.SGD(0.1))


def test_fit_without_the_broadcast() -> None:
    """Refused where the ranks begin with other weights; a common seed makes them equal."""
    with refused(guards.UnsharedStartError, "2 ranks, each from first weights"):
        fit(compiled(mlp(seed=hvd.rank()), distributed()), *data(hvd.rank()))
    model = compiled(mlp(seed=0), distributed())
    fit(model, *data(hvd.rank()))
    assert equal_on_all_ranks(model.get_weights())


def test_fit_after_a_broadcast_of_ones_own() -> None:
    model = compiled(mlp(seed=hvd.rank()), distributed())
    hvd.broadcast(model)
    fit(model, *data(hvd.rank()))
    assert equal_on_all_ranks(model.get_weights())


def test_compiled_again_with_another_optimizer() -> None:
    model = compiled(mlp(), distributed())
    fit(model, *data(hvd.rank()), callbacks=hvd.callbacks())
    compiled(model, keras.optimizers.SGD(0.1))
    with refused(guards.UnreducedTrainingError, "no DistributedOptimizer", "2 ranks"):
        fit(model, *data(hvd.rank()), callbacks=hvd.callbacks())


def test_a_train_step_that_reduces_nothing() -> None:
    model = mlp()
    own = compiled(OwnStep(inputs=model.inputs, outputs=model.outputs), keras.optimizers.SGD(0.1))
    with refused(guards.UnreducedTrainingError, "train_step of OwnStep reduces nothing"):
        fit(own, *data(hvd.rank()), callbacks=hvd.callbacks())


def test_a_learning_rate_that_one_rank_sets() -> None:
    model = compiled(mlp(), distributed())
    if hvd.rank() == 0:
        model.optimizer.learning_rate = 0.5
    with refused(guards.RanksDifferError, "rate of rank 0 is 0.5, that of rank 1 0.1"):
        fit(model, *data(hvd.rank()), callbacks=hvd.callbacks()[1:])  # the broadcast would send rank 0's


def test_validation_on_one_rank() -> None:
    model = compiled(mlp(), distributed())
    validation = {"validation_data": data(0)} if hvd.rank() == 0 else {}
    with refused(guards.RanksDifferError, "rank 0: loss, val_loss; of rank 1: loss"):
        fit(model, *data(hvd.rank()), callbacks=hvd.callbacks(), **validation)
