"""DistributedGradientTape: a tf.GradientTape whose gradients are those of all ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import horovod.tensorflow as hvd
import tensorflow as tf

from hvdkit import guards as shared
from hvdkit.keras.backend import raw
from hvdkit.keras.collectives.tensorflow import any_dtype, refuse_xla
from hvdkit.keras.guards import MARK
from hvdkit.keras.history import note_reduction
from hvdkit.keras.reduction import chosen_compression, chosen_op

__all__ = ["DistributedGradientTape"]


def DistributedGradientTape(  # noqa: N802 - Horovod's name
    gradtape: Any,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = hvd.Compression.none,
    sparse_as_dense: bool = False,
    op: Any = hvd.Average,
    gradient_predivide_factor: float = 1.0,
    num_groups: int = 0,
    groups: Any = None,
    process_set: Any = hvd.global_process_set,
    scale_local_gradients: bool = True,
    *,
    fp16_allreduce: bool = False,
    use_adasum: bool = False,
) -> Any:
    """Horovod's DistributedGradientTape, for variables of Keras 2 and Keras 3 and in any nest.

    Takes what `horovod.tensorflow.DistributedGradientTape` takes, in its order, and besides:

    fp16_allreduce: short for `compression=hvd.Compression.fp16`. use_adasum: short for `op=hvd.Adasum`, which
        then combines gradients, not updates.

    Its `gradient(target, sources)` takes sources and returns gradients as tf.GradientTape does. Give them to
    a plain optimizer; clip them before that. bfloat16 gradients are sent as float32.

    Raises a type of `hvdkit.guards` where Adasum is not there, JitCompileError inside a function that XLA
    compiles, and UsageError for arguments that contradict each other.
    """
    shared.check_initialized(hvd)
    op = chosen_op(hvd, op, use_adasum)
    if op == hvd.Adasum and hvd.size() > 1:
        shared.check_adasum(hvd, process_set)
    tape = hvd.DistributedGradientTape(
        gradtape,
        device_dense,
        device_sparse,
        any_dtype(chosen_compression(hvd, compression, fp16_allreduce)),
        sparse_as_dense,
        op,
        gradient_predivide_factor,
        num_groups,
        groups,
        process_set,
        scale_local_gradients,
    )
    # Horovod's methods reach tf.GradientTape with super(self.__class__, self): theirs is the last class. It
    # was made for this tape alone, so its method can be replaced.
    reduce_gradients = type(tape).gradient

    def gradient(
        self: Any, target: Any, sources: Any, output_gradients: Any = None, use_generic_names: bool = False
    ) -> Any:
        """The gradients of `target`, reduced over all ranks, in the nest of `sources`."""
        refuse_xla()
        note_reduction()
        flat: Sequence[Any] = [raw(source) for source in tf.nest.flatten(sources)]
        reduced = reduce_gradients(self, target, flat, output_gradients, use_generic_names)
        for part in reduced:
            if part is not None:
                setattr(part, MARK, True)
        return tf.nest.pack_sequence_as(sources, reduced)

    type(tape).gradient = gradient
    return tape
