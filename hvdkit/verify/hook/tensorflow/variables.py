"""The variables of a process beside those that an optimizer trains, in the order in which they were made."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

from hvdkit.verify.hook.tensorflow.twin_states import held_by_generators


@dataclass
class Beside:
    """Of one optimizer. buffers: what the models of its variables do not train: statistics, frozen layers.
    untrained, untrained_buffers: variables of models that hold none of its variables. loose: those of no
    model, as a copy that the script makes itself."""

    buffers: list[Any] = field(default_factory=list)
    untrained: list[Any] = field(default_factory=list)
    untrained_buffers: list[Any] = field(default_factory=list)
    loose: list[Any] = field(default_factory=list)


def beside(variables: Iterable[Any], optimizers: Iterable[Any]) -> Beside:
    """What lives beside these variables, which an optimizer trains. optimizers: those that are known."""
    gc.collect()  # what is only garbage in one run may still lie about in another
    trained = {id(variable) for variable in variables}
    found, known = Beside(), set(trained)
    models = _of_kind(tf.keras.Model)
    inside = [{id(native(v)) for v in model.weights} for model in models]
    for model, ids in zip(models, inside):
        if ids & trained:
            _add(found.buffers, model.non_trainable_weights, known)
    for model, ids in zip(models, inside):
        if not ids & trained:
            _add(found.untrained, model.trainable_weights, known)
            _add(found.untrained_buffers, model.non_trainable_weights, known)
    known |= {id(native(v)) for optimizer in optimizers for v in _held(optimizer)}
    known |= {id(native(v)) for metric in _of_kind(tf.keras.metrics.Metric) for v in metric.variables}
    known |= held_by_generators()
    _add(found.loose, (v for v in all_variables() if v.dtype.is_floating and v.shape.rank), known)
    return found


def all_variables() -> list[Any]:
    """Every variable that lives, in the order of construction, but for the states of generators."""
    generators = held_by_generators()
    living = [
        v for v in _of_kind(BaseResourceVariable) if id(v) not in generators and v.trainable is not None
    ]
    return sorted(living, key=lambda variable: int(variable._unique_id.rpartition("_")[2]))


def native(variable: Any) -> Any:
    """TensorFlow's variable in one of Keras 3."""
    return variable.value if hasattr(variable, "path") else variable


def _held(optimizer: Any) -> Iterable[Any]:
    # Not by `variables`, which Horovod's wrapper overrides in a way that raises under Keras 3.
    held: Iterable[Any] = getattr(optimizer, "_variables", ()) or getattr(optimizer, "_weights", ())
    return held


def _add(to: list[Any], variables: Iterable[Any], known: set[int]) -> None:
    for variable in variables:
        if id(native(variable)) not in known:
            known.add(id(native(variable)))
            to.append(variable)


def _of_kind(kind: Any) -> list[Any]:
    return [o for o in gc.get_objects() if issubclass(type(o), kind)]
