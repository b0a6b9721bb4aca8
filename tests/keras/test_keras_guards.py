"""Each mistake around a Keras job is refused with its own error, before a step is taken."""

from __future__ import annotations

from typing import Any

import pytest
from keras_models import close, compiled, data, equal_on_all_ranks, fit, mlp, trained_alone

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


def distributed(rate: Any = 0.1) -> Any:
    return hvd.DistributedOptimizer(keras.optimizers.SGD(rate))


def test_compiled_again_with_a_plain_optimizer() -> None:
    model = compiled(mlp(), distributed())
    fit(model, *data(hvd.rank()))
    compiled(model, keras.optimizers.SGD(0.1))
    with refused(guards.UnreducedTrainingError, "no DistributedOptimizer", "2 ranks"):
        fit(model, *data(hvd.rank()))


def test_loaded_by_keras_itself(keras_path: Any) -> None:
    """hvd.load_model reduces again; keras.models.load_model returns a plain optimizer."""
    model = compiled(mlp(), distributed())
    fit(model, *data(hvd.rank()))
    path = keras_path / f"model{hvd.rank()}.keras"
    model.save(path)
    with refused(guards.UnreducedTrainingError, "no DistributedOptimizer"):
        fit(keras.models.load_model(path), *data(hvd.rank()), callbacks=hvd.callbacks())
    loaded = hvd.load_model(path)
    fit(loaded, *data(hvd.rank()))
    assert equal_on_all_ranks(list(loaded.get_weights()))


def test_a_fit_without_the_broadcast_is_given_it() -> None:
    """Also where the model is resumed on rank 0 alone between two fits."""
    model = compiled(mlp(seed=hvd.rank()), distributed(0.05))
    fit(model, *data(hvd.rank()))
    together = list(model.get_weights())
    if hvd.rank() == 0:
        model.set_weights([array + 1 for array in together])
    fit(model, *data(hvd.rank()), callbacks=[keras.callbacks.TerminateOnNaN()])
    resumed = list(model.get_weights())
    assert equal_on_all_ranks(together) and equal_on_all_ranks(resumed)
    assert close(together, trained_alone(keras.optimizers.SGD(0.05)))


class Sets(keras.callbacks.Callback):  # type: ignore[misc, name-defined]
    """Sets the learning rate of the second epoch."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if epoch == 1:
            self.model.optimizer.learning_rate = 0.5


@pytest.mark.parametrize("callbacks", [hvd.callbacks, list], ids=["with callbacks", "without"])
def test_a_learning_rate_that_one_rank_sets(callbacks: Any) -> None:
    model = compiled(mlp(), distributed())
    own = [Sets()] if hvd.rank() == 1 else []
    with refused(guards.RanksDifferError, "learning rate is 0.1 on rank 0 and 0.5 on rank 1"):
        fit(model, *data(hvd.rank()), callbacks=callbacks(own))
    assert equal_on_all_ranks(list(model.get_weights())), "refused before a step with these rates"
    fit(model, *data(hvd.rank()), callbacks=callbacks([Sets()]))


def test_schedules_that_differ() -> None:
    schedule = keras.optimizers.schedules.ExponentialDecay(0.1 * (1 + hvd.rank()), 10, 0.5)
    with refused(guards.RanksDifferError, "learning rate is 0.1 on rank 0 and 0.2 on rank 1"):
        fit(compiled(mlp(), distributed(schedule)), *data(hvd.rank()))


def test_validation_on_one_rank() -> None:
    """Refused where its metrics are averaged, and only there."""
    model = compiled(mlp(), distributed())
    validation = {"validation_data": data(0)} if hvd.rank() == 0 else {}
    with refused(guards.RanksDifferError, "rank 0 gives fit validation data, and rank 1 does not"):
        fit(model, *data(hvd.rank()), callbacks=hvd.callbacks(), **validation)
    history = fit(model, *data(hvd.rank()), **validation).history
    assert ("val_loss" in history) == (hvd.rank() == 0)


def test_callbacks_on_one_rank() -> None:
    callbacks = hvd.callbacks() if hvd.rank() == 0 else []
    with refused(guards.RanksDifferError, "rank 0 gives fit the callback that averages metrics, and rank 1"):
        fit(compiled(mlp(), distributed()), *data(hvd.rank()), callbacks=callbacks)


@pytest.mark.parametrize(
    ("settings", "seen"),
    [
        ({"initial_epoch": 1}, "rank 0 fits epochs 1 to 2, rank 1 0 to 2"),
        ({"steps_per_epoch": 3}, "steps_per_epoch is 3 on rank 0 and 4 on rank 1"),
    ],
    ids=["epochs", "steps"],
)
def test_numbers_that_differ(settings: dict[str, int], seen: str) -> None:
    mine = {name: value + (name == "steps_per_epoch") * hvd.rank() for name, value in settings.items()}
    mine = mine if hvd.rank() == 0 or "steps_per_epoch" in mine else {}
    with refused(guards.RanksDifferError, seen):
        fit(compiled(mlp(), distributed()), *data(hvd.rank()), **mine)


def test_a_model_of_one_rank_after_the_job_has_trained() -> None:
    """A linear probe: rank 0 alone fits, evaluates and predicts, and is neither refused nor waits.

    Keras numbers its names, which then differ between the ranks: the next fit of all ranks must not mind.
    """
    fit(compiled(mlp(), distributed()), *data(hvd.rank()))
    if hvd.rank() == 0:
        probe = compiled(mlp(), keras.optimizers.SGD(0.1))
        fit(probe, *data(0), validation_data=data(1))
        assert probe.evaluate(*data(0), verbose=0) == pytest.approx(probe.evaluate(*data(0), verbose=0))
    model = compiled(mlp(hvd.rank()), distributed())
    fit(model, *data(hvd.rank()))
    assert equal_on_all_ranks(list(model.get_weights()))
