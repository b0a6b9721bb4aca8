"""Each mistake around a Keras job is refused with its own error, before a step is taken."""

from __future__ import annotations

from typing import Any

import pytest
from keras_models import compiled, data, fit, mlp

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
