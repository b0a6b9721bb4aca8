"""DistributedOptimizer: a Keras optimizer that applies the gradients of all ranks.

Horovod's own overrides methods that Keras 3 never calls, and that a custom train_step of Keras 2 goes past;
here the reduction sits in the one method that every gradient passes. What is sent is in `collectives`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import new_class
from typing import Any, TypeVar

from hvdkit import guards as shared
from hvdkit.errors import UsageError
from hvdkit.keras import guards
from hvdkit.keras.backend import IS_KERAS_3, collectives, hvd, keras, raw
from hvdkit.keras.history import note_reduction
from hvdkit.keras.reduction import Reduction, Step, chosen_compression, chosen_op

__all__ = ["DistributedOptimizer", "unwrap"]

OptimizerT = TypeVar("OptimizerT")

_NUMBERS = itertools.count()


def DistributedOptimizer(  # noqa: N802 - Horovod's name
    optimizer: OptimizerT,
    name: str | None = None,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = hvd.Compression.none,
    sparse_as_dense: bool = False,
    gradient_predivide_factor: float = 1.0,
    op: Any = hvd.Average,
    backward_passes_per_step: int = 1,
    average_aggregated_gradients: bool = False,
    num_groups: int = 0,
    groups: Any = None,
    process_set: Any = hvd.global_process_set,
    *,
    fp16_allreduce: bool = False,
    use_adasum: bool = False,
) -> OptimizerT:
    """Make `optimizer` reduce its gradients over all ranks, and return it.

    The same object comes back, under the same class name: its state, its learning-rate schedule and a model
    compiled with it stay, and a saved model loads where there is no hvdkit. Takes what
    `horovod.tensorflow.keras.DistributedOptimizer` takes, in its order, and besides:

    optimizer: an optimizer of Keras 2.11 or later or of Keras 3, or a LossScaleOptimizer around one; under
        the mixed_float16 policy any other gets one around it, inside the reduction.
    op: Average, Sum or Adasum.
    backward_passes_per_step: gradients of this many calls are added up on each rank and then reduced; the
        weights stay until then. average_aggregated_gradients divides the sum by their number.
    fp16_allreduce: short for `compression=hvd.Compression.fp16`. use_adasum: short for `op=hvd.Adasum`.

    The order of a step: accumulate, reduce, look for overflow and unscale (LossScaleOptimizer), clip
    (clipnorm, global_clipnorm, clipvalue), decay, update, constrain. bfloat16 gradients are sent as float32.

    Raises a type of `hvdkit.guards` or `hvdkit.keras.guards` for what would fail or go wrong later, and
    UsageError for arguments that contradict each other.
    """
    shared.check_initialized(hvd)
    guards.check_optimizer(keras, optimizer)
    op = chosen_op(hvd, op, use_adasum)
    compression = chosen_compression(hvd, compression, fp16_allreduce)
    if backward_passes_per_step < 1:
        raise UsageError(f"{backward_passes_per_step} backward passes per step", fix="pass 1 or more")
    if gradient_predivide_factor != 1.0 and op != hvd.Average:
        raise UsageError(
            f"gradient_predivide_factor={gradient_predivide_factor} with an op other than Average",
            why="it splits the division of an average",
            fix="leave one of them out",
        )
    if op == hvd.Adasum and hvd.size() > 1:
        shared.check_adasum(hvd, process_set)
    chosen: Any = _with_loss_scale(optimizer)
    reduction = Reduction(
        # The same on all ranks, which all build their optimizers in the same order.
        name=name or f"Distributed{type(chosen).__name__}_{next(_NUMBERS)}",
        op=op,
        compression=compression,
        sparse_as_dense=sparse_as_dense,
        gradient_predivide_factor=gradient_predivide_factor,
        groups=groups if groups is not None else num_groups or None,
        process_set=process_set,
        device_dense=device_dense,
        device_sparse=device_sparse,
        passes=backward_passes_per_step,
        mean_of_passes=average_aggregated_gradients,
    )
    _become(chosen, reduction)
    return chosen  # type: ignore[no-any-return]


def unwrap(optimizer: OptimizerT) -> OptimizerT:
    """Make a DistributedOptimizer an ordinary one again, state kept. Raises NotDistributedError."""
    if not guards.is_distributed(optimizer):
        raise shared.NotDistributedError(
            f"this {type(optimizer).__name__} is not a hvdkit DistributedOptimizer",
            fix="unwrap what hvd.DistributedOptimizer returned",
        )
    optimizer.__class__ = type(optimizer).__bases__[0]
    return optimizer


def _with_loss_scale(optimizer: Any) -> Any:
    """What compile would do around the reduction, where ranks could disagree, done inside it."""
    loss_scale = keras.mixed_precision.LossScaleOptimizer
    policy = keras.mixed_precision.global_policy() if not IS_KERAS_3 else keras.config.dtype_policy()
    if (
        policy.name != "mixed_float16"
        or isinstance(optimizer, loss_scale)
        or hasattr(optimizer, "inner_optimizer")
    ):
        return optimizer
    return loss_scale(optimizer)


def _step(reduction: Reduction) -> Step:
    adasum = reduction.op == hvd.Adasum and hvd.size() > 1
    step: Step = (collectives.combining_updates if adasum else collectives.averaging)(reduction)
    if reduction.passes == 1:
        return step
    return collectives.accumulating(step, reduction.passes, reduction.mean_of_passes)  # type: ignore[no-any-return]


def _become(optimizer: Any, reduction: Reduction) -> None:
    """Give `optimizer` a class of its own, with the reduction in the method that applies gradients.

    A class of the same name and module: a saved model names the class that everybody has.
    """
    base, step = type(optimizer), _step(reduction)
    methods = _keras_3(base, step) if IS_KERAS_3 else _keras_2(base, step)
    methods |= {guards.MARK: reduction, "__module__": base.__module__, "__qualname__": base.__qualname__}
    optimizer.__class__ = new_class(base.__name__, (base,), exec_body=lambda body: body.update(methods))


def _keras_3(base: Any, step: Step) -> dict[str, Any]:
    def apply(self: Any, grads: Sequence[Any], trainable_variables: Sequence[Any] | None = None) -> None:
        """Reduce the gradients over all ranks, then apply them."""
        gradients = list(grads)
        variables = list(self._trainable_variables if trainable_variables is None else trainable_variables)
        _refuse_reduced(gradients)
        note_reduction()
        if not self.built:
            self.build(variables)
        step(
            gradients,
            [raw(variable) for variable in variables],
            lambda reduced: base.apply(self, list(reduced), variables),
        )

    return {"apply": apply}


def _keras_2(base: Any, step: Step) -> dict[str, Any]:
    def apply_gradients(self: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
        """Reduce the gradients over all ranks, then apply them. Returns the number of updates."""
        gradients, variables = zip(*grads_and_vars)
        _refuse_reduced(gradients)
        note_reduction()
        with collectives.tf.init_scope():
            self.build(variables)

        def apply(reduced: Sequence[Any]) -> None:
            base.apply_gradients(self, list(zip(reduced, variables)), *args, **kwargs)

        step(gradients, variables, apply)
        return self.iterations

    return {"apply_gradients": apply_gradients}


def _refuse_reduced(gradients: Sequence[Any]) -> None:
    """Raises ReducedTwiceError when a DistributedGradientTape made one of the gradients."""
    if any(getattr(gradient, guards.MARK, False) for gradient in gradients):
        raise guards.ReducedTwiceError(
            "gradients of a DistributedGradientTape are passed to a DistributedOptimizer",
            why="they would be reduced twice, which is wrong for a sum or Adasum and slow for an average",
            fix="keep one of the two: the plain tape, or the plain optimizer",
        )
