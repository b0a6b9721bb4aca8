"""Gradients of all twins averaged as Horovod averages those of all ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from hvdkit.observe.records import ROUNDING
from hvdkit.verify.hook.twin_peers import Peers


def averaged(peers: Peers, gradients: Any) -> Any:
    """The means of gradients, in any nest. One that no twin has is none; where some have none it counts as
    zero."""
    own = tf.nest.flatten(gradients)
    of_all = peers.gather("its gradients", [_packed(gradient) for gradient in own])
    means = [_mean([each[place] for each in of_all]) for place in range(len(own))]
    return tf.nest.pack_sequence_as(gradients, means)


def _packed(gradient: Any) -> Any:
    """As arrays: of slices their values, their places, and the shape of all."""
    if isinstance(gradient, tf.IndexedSlices):
        return gradient.values.numpy(), gradient.indices.numpy(), tuple(gradient.shape)
    return None if gradient is None else gradient.numpy()


def _mean(gradients: Sequence[Any]) -> Any:
    given = [gradient for gradient in gradients if gradient is not None]
    if not given:
        return None
    if isinstance(given[0], tuple):
        values = np.concatenate([values / len(gradients) for values, _, _ in given])
        places = np.concatenate([places for _, places, _ in given])
        return tf.IndexedSlices(tf.constant(values), tf.constant(places), tf.constant(given[0][2]))
    kind = given[0].dtype
    wide = len(gradients) > 2 and kind.kind == "f"
    total = sum(gradient.astype(np.float64) if wide else gradient for gradient in given)
    return tf.constant((total * total.dtype.type(1.0 / len(gradients))).astype(kind))


def as_used(own: Sequence[Any], job: Sequence[Any]) -> float | None:
    """How far gradients are from the job's, the largest of all relative distances; None where that is more
    than the order of additions explains."""
    if [array.shape for array in own] != [array.shape for array in job]:
        return None
    apart = 0.0
    for one, other in zip(own, job):
        norm = float(np.linalg.norm(one.astype(np.float64)))
        distance = float(np.linalg.norm(one.astype(np.float64) - other.astype(np.float64)))
        if distance > ROUNDING * norm:
            return None
        apart = max(apart, distance / norm if norm else 0.0)
    return apart
