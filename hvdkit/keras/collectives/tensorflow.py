"""Collectives of Keras on TensorFlow. Everything here may run eagerly or while a tf.function is traced."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf

# No public name says whether a function is being compiled by XLA.
from tensorflow.python.framework import ops
from tensorflow.python.ops import control_flow_util

from hvdkit.keras.guards import JitCompileError
from hvdkit.keras.reduction import Apply, Reduction, Step

# What HorovodBroadcast and HorovodAllreduce take (horovod/tensorflow/mpi_ops.cc).
_BROADCAST = (tf.uint8, tf.int8, tf.int32, tf.int64, tf.float16, tf.float32, tf.float64, tf.bool)


class AnyDtype:
    """Sends bfloat16 as float32, which Horovod can add up; the rest as `inner` does.

    inner: a compressor of Horovod, `hvd.Compression.none` or `.fp16`.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def compress(self, tensor: Any) -> tuple[Any, Any]:
        """The tensor to send, and what `decompress` needs."""
        dtype = tensor.dtype
        sendable = tf.cast(tensor, tf.float32) if dtype == tf.bfloat16 else tensor
        compressed, context = self._inner.compress(sendable)
        return compressed, (dtype, context)

    def decompress(self, tensor: Any, context: Any) -> Any:
        """The received tensor with the dtype that it had before `compress`."""
        dtype, inner = context
        return tf.cast(self._inner.decompress(tensor, inner), dtype)


# Horovod keeps a compiled reduction for each compressor: one object for each.
any_dtype = lru_cache(maxsize=None)(AnyDtype)


def averaging(reduction: Reduction) -> Step:
    """Reduce the gradients, then apply them."""
    reduce_gradients = hvd._make_allreduce_grads_fn(
        reduction.name,
        reduction.device_dense,
        reduction.device_sparse,
        any_dtype(reduction.compression),
        reduction.sparse_as_dense,
        reduction.op,
        reduction.gradient_predivide_factor,
        reduction.groups,
        reduction.process_set,
    )

    def step(gradients: Sequence[Any], variables: Sequence[Any], apply: Apply) -> None:
        refuse_xla()
        apply(reduce_gradients(_named(gradients, reduction.name), list(variables)))

    return step


def _named(gradients: Sequence[Any], name: str) -> list[Any]:
    """Gradients under names that are the same on all ranks, as `broadcast` has it.

    Horovod names a reduction after its gradient, and that one is named after layers that Keras has numbered.
    """

    def named(gradient: Any, label: str) -> Any:
        if isinstance(gradient, tf.IndexedSlices):
            values = tf.identity(gradient.values, f"{label}_values")
            indices = tf.identity(gradient.indices, f"{label}_indices")
            return tf.IndexedSlices(values, indices, gradient.dense_shape)
        return None if gradient is None else tf.identity(gradient, label)

    return [named(gradient, f"{name}_{index}") for index, gradient in enumerate(gradients)]


def combining_updates(reduction: Reduction) -> Step:
    """Adasum: apply this rank's gradients, then combine how far each rank has moved.

    Source: Maleki et al. 2020, arXiv:2006.02924, and horovod/tensorflow/__init__.py,
    _DistributedAdasumOptimizer: the combination is of updates, so that adaptive optimizers adapt to what
    their own rank has seen.
    """
    compression = any_dtype(reduction.compression)

    def step(gradients: Sequence[Any], variables: Sequence[Any], apply: Apply) -> None:
        refuse_xla()
        start = [tf.identity(variable) for variable in variables]
        apply(gradients)
        for index, (variable, before) in enumerate(zip(variables, start)):
            update = hvd.allreduce(
                variable - before,
                op=hvd.Adasum,
                compression=compression,
                device_dense=reduction.device_dense,
                name=f"{reduction.name}.update.{index}",
            )
            variable.assign(before + update)

    return step


def accumulating(step: Step, passes: int, mean: bool) -> Step:
    """Add up gradients on this rank, and take `step` with the sum, or mean, at every passes-th call."""
    sums: list[Any] = []
    counter: list[Any] = []

    def accumulate(gradients: Sequence[Any], variables: Sequence[Any], apply: Apply) -> None:
        if not counter:
            with tf.init_scope():
                sums.extend(tf.Variable(tf.zeros_like(variable), trainable=False) for variable in variables)
                counter.append(tf.Variable(0, trainable=False, dtype=tf.int32))
        present = [(total, gradient) for total, gradient in zip(sums, gradients) if gradient is not None]
        for total, gradient in present:
            total.assign_add(tf.convert_to_tensor(gradient))
        counter[0].assign_add(1)

        def flush() -> Any:
            scale = 1 / passes if mean else 1.0
            step(
                [
                    None if g is None else total * tf.cast(scale, total.dtype)
                    for total, g in zip(sums, gradients)
                ],
                variables,
                apply,
            )
            for total, _ in present:
                total.assign(tf.zeros_like(total))
            counter[0].assign(0)
            return tf.constant(True)

        tf.cond(tf.equal(counter[0], passes), flush, lambda: tf.constant(False))

    return accumulate


def broadcast(variables: Sequence[Any], root_rank: int, process_set: Any) -> None:
    """Give each variable the value that it has on the root rank."""

    @tf.function  # type: ignore[untyped-decorator]
    def send() -> None:
        # Named by place: Horovod pairs what ranks send by name, and Keras numbers names in each process. A
        # rank that has built one more model for itself would wait for other names than the rest.
        for index, variable in enumerate(variables):
            bits = variable.dtype not in _BROADCAST
            sent = hvd.broadcast(
                tf.bitcast(variable, tf.uint8) if bits else variable,
                root_rank,
                name=f"hvdkit.broadcast.{index}",
                ignore_name_scope=True,
                process_set=process_set,
            )
            variable.assign(tf.bitcast(sent, variable.dtype) if bits else sent)

    if tf.config.functions_run_eagerly():
        send()
    else:
        send.get_concrete_function()()  # a call would warn that it is traced each time, as it has to be


def total(numbers: np.ndarray[Any, np.dtype[np.float64]], name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The sum over ranks of a vector of float64."""
    summed: np.ndarray[Any, np.dtype[np.float64]] = hvd.allreduce(
        tf.constant(numbers), op=hvd.Sum, name=name, device_dense="/CPU:0"
    ).numpy()
    return summed


def on_gpu() -> bool:
    """Whether this process computes on a GPU."""
    return bool(tf.config.get_visible_devices("GPU"))


def refuse_xla() -> None:
    """Raises JitCompileError where XLA would compile the collective, and cannot."""
    compiled = control_flow_util.GraphOrParentsInXlaContext(ops.get_default_graph())
    if compiled and not (os.environ.get("HOROVOD_ENABLE_XLA_OPS") == "1" and on_gpu()):
        raise JitCompileError(
            "the training step is compiled by XLA (jit_compile=True)",
            why="Horovod's collectives cannot be compiled here: the first step would fail. On a GPU Keras 3 "
            'compiles when jit_compile is left at "auto"',
            fix="model.compile(..., jit_compile=False); in your own loop tf.function(jit_compile=False)",
        )
