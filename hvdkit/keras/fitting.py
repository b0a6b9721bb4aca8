"""What `fit` does first in a job: ranks that would diverge are refused, a missing broadcast is added.

An optimizer does not know which fit it is in, and a callback that is left out cannot notice it. So Keras'
`fit` is wrapped once, when hvdkit.keras is imported. In one process it is as it was.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Any

from hvdkit.keras import guards
from hvdkit.keras.backend import IS_KERAS_3, hvd, keras
from hvdkit.keras.callbacks import BroadcastGlobalVariablesCallback, MetricAverageCallback
from hvdkit.keras.history import fitted_together, note_together, reduced_before
from hvdkit.keras.learning_rate import current_rate
from hvdkit.keras.reduction import Reduction

__all__ = ["watch_fit"]


def watch_fit() -> None:
    """Check each fit of a job before it begins."""
    kind = next(part for part in keras.Model.__mro__ if "fit" in vars(part))
    fit = kind.fit
    takes = inspect.signature(fit)

    @functools.wraps(fit)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if not hvd.is_initialized() or hvd.size() == 1:
            return fit(*args, **kwargs)
        given = takes.bind(*args, **kwargs)
        given.apply_defaults()
        _prepare(given.arguments)
        return fit(*given.args, **given.kwargs)

    kind.fit = checked


def _prepare(arguments: dict[str, Any]) -> None:
    """Check the arguments of a fit, and complete its callbacks.

    Raises UnreducedTrainingError, ConditionalReductionError or RanksDifferError.
    """
    model, callbacks = arguments["self"], _listed(arguments["callbacks"])
    optimizers = _distributed(model)
    sends = any(_is_broadcast(callback) for callback in callbacks)
    if not optimizers and not sends:
        _check_alone(model)
        return
    reductions = [guards.reduction_of(optimizer) for optimizer in optimizers]
    if any(reduction.process_set is not hvd.global_process_set for reduction in reductions):
        return  # ranks outside the set do not come here
    note_together(model)
    averages = any(isinstance(callback, MetricAverageCallback) for callback in callbacks)
    plan = _plan(arguments, averages)
    guards.check_plans(hvd.allgather_object(plan, name="hvdkit.fit"))
    first = [] if sends else [BroadcastGlobalVariablesCallback()]
    arguments["callbacks"] = [*first, *callbacks, *_rates(optimizers, reductions)]


class _Rates(keras.callbacks.Callback):  # type: ignore[misc]
    """Compares the learning rates of the ranks in each epoch, before its first step.

    By then every callback that sets a rate for the epoch has run. Raises RanksDifferError.
    """

    def __init__(self, optimizers: list[Any]) -> None:
        super().__init__()
        self._optimizers = optimizers
        self._due = False

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """The next batch is the first one of its epoch."""
        self._due = True

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Every rank begins as many epochs."""
        if self._due:
            self._due = False
            rates = [current_rate(optimizer) for optimizer in self._optimizers]
            guards.check_rates(hvd.allgather_object(rates, name="hvdkit.rates"))


def _rates(optimizers: list[Any], reductions: list[Reduction]) -> list[_Rates]:
    # Adasum combines what each rank's own rate makes of its gradients: all ranks move alike.
    compared = [one for one, reduction in zip(optimizers, reductions) if reduction.op != hvd.Adasum]
    return [_Rates(compared)] if compared else []


def _check_alone(model: Any) -> None:
    """A fit that seems to concern this rank alone.

    It is refused where that cannot be meant: all ranks have trained the model before, or nothing so far.
    After a job has trained, a rank may well fit a model for itself, such as a linear probe.
    """
    optimizer = getattr(model, "optimizer", None)
    if guards.is_horovods(optimizer) and not IS_KERAS_3:
        return  # which averages there
    # Whether a train_step of the model's own reduces, its gradients alone can tell.
    if type(model).train_step is keras.Model.train_step and (fitted_together(model) or not reduced_before()):
        guards.check_training(optimizer, hvd.size())


def _distributed(model: Any) -> list[Any]:
    """The DistributedOptimizers of a model, those of a train_step of its own included."""
    held = [getattr(model, "optimizer", None), *vars(model).values()]
    return list({id(one): one for one in held if guards.is_distributed(one)}.values())


def _listed(callbacks: Any) -> list[Any]:
    if isinstance(callbacks, keras.callbacks.CallbackList):
        return list(callbacks.callbacks)
    if isinstance(callbacks, (list, tuple)):
        return [one for each in callbacks for one in _listed(each)]
    return [] if callbacks is None else [callbacks]


def _is_broadcast(callback: Any) -> bool:
    """By its name, which Horovod's own has, too."""
    return any(kind.__name__ == BroadcastGlobalVariablesCallback.__name__ for kind in type(callback).__mro__)


def _plan(arguments: Mapping[str, Any], averages: bool) -> dict[str, Any]:
    """What this rank is about to do, as far as the others wait for it."""
    steps = arguments["steps_per_epoch"]
    validates = arguments["validation_data"] is not None or bool(arguments["validation_split"])
    return {
        "epochs": (int(arguments["initial_epoch"]), int(arguments["epochs"])),
        "steps": None if steps is None else int(steps),
        "averages": averages,
        "validates": validates,
    }
