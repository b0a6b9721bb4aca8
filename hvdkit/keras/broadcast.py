"""broadcast(): all ranks start from the weights and the optimizer state of one rank.

Before the first step where the model has its weights already, after it where they come with the first batch.
"""

from __future__ import annotations

from typing import Any

from hvdkit import guards as shared
from hvdkit.keras.backend import IS_KERAS_3, collectives, hvd, keras, raw
from hvdkit.keras.guards import NotBuiltError

__all__ = ["broadcast"]


def broadcast(*args: Any, **kwargs: Any) -> Any:
    """`broadcast(model, optimizer=None, root_rank=0, process_set=...)`: send both from `root_rank` to all.

    model: a Keras model, or a list of them. Its weights and the statistics of BatchNormalization are sent;
        metrics and the state of random layers stay each rank's own.
    optimizer: built for the model's trainable variables if it is not yet; its state, its learning rate and
        its number of updates are sent. None takes that of a compiled model.

    Every rank calls it, outside a tf.function. Raises NotBuiltError where a model has no weights yet, and
    NotInitializedError before hvd.init().

    Called with a tensor, `broadcast(tensor, root_rank, name=None)`, it is Horovod's own.
    """
    subject = kwargs.get("model", args[0] if args else None)
    models = subject if isinstance(subject, (list, tuple)) else [subject]
    if not all(isinstance(model, keras.Model) for model in models):
        return hvd.broadcast(*args, **kwargs)
    return _broadcast_training(*args, **kwargs)


def _broadcast_training(
    model: Any, optimizer: Any = None, root_rank: int = 0, process_set: Any = hvd.global_process_set
) -> None:
    models = list(model) if isinstance(model, (list, tuple)) else [model]
    if optimizer is None and len(models) == 1:
        optimizer = getattr(models[0], "optimizer", None)
    stepped = optimizer is not None and int(getattr(optimizer, "iterations", 0)) > 0
    send(models, optimizer, root_rank, process_set, stepped)


def send(
    models: list[Any],
    optimizer: Any,
    root_rank: int = 0,
    process_set: Any = hvd.global_process_set,
    stepped: bool = False,
) -> None:
    """Broadcast models and their optimizer. stepped: whether a step was made. Raises NotBuiltError."""
    shared.check_initialized(hvd)
    for part in models:
        waiting = unbuilt(part, stepped)
        if waiting:
            names = ", ".join(repr(layer.name) for layer in waiting if layer is not part)
            raise NotBuiltError(
                f"the model {part.name!r} has no weights yet" + (f" in {names}" if names else ""),
                why="they are created with the first batch; each rank would continue with its own",
                fix="model.build(input_shape) first, for each part that your training step calls itself",
            )
    variables = [variable for part in models for variable in part.weights]
    if optimizer is not None:
        trainable = [variable for part in models for variable in part.trainable_variables]
        variables += state(optimizer, trainable)
    collectives.broadcast([raw(variable) for variable in variables], root_rank, process_set)


def unbuilt(model: Any, stepped: bool = False) -> list[Any]:
    """The layers whose weights are not there yet, the model itself among them.

    stepped: after a step only layers without layers inside count. A train_step may call the parts of a model
    and never the model itself, which then is never built, and has no weights but theirs.
    """
    layers = list(model._flatten_layers())
    if stepped:
        layers = [one for one in layers if not list(one._flatten_layers(recursive=False, include_self=False))]
    return [layer for layer in layers if not layer.built]


def state(optimizer: Any, trainable: list[Any]) -> list[Any]:
    """The variables of an optimizer, built for `trainable` where it is not."""
    if IS_KERAS_3:
        if not optimizer.built:
            optimizer.build(trainable)
        return list(optimizer.variables)
    optimizer.build(trainable)
    rate = getattr(optimizer, "inner_optimizer", optimizer)._learning_rate
    # Keras 2 keeps its learning rate apart; a schedule is no variable.
    return [*optimizer.variables, *([rate] if hasattr(rate, "assign") else [])]
