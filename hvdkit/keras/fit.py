"""Small things around `fit`: how much each rank prints and runs, and metrics over all ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hvdkit.errors import UsageError
from hvdkit.keras.backend import collectives, hvd

__all__ = ["average", "steps_per_epoch", "verbose"]


def verbose(value: Any = "auto") -> Any:
    """`value` on rank 0 and 0 on the others: for the `verbose` of fit, evaluate and predict."""
    return value if hvd.rank() == 0 else 0


def steps_per_epoch(steps: int) -> int:
    """Each rank's batches in an epoch that takes `steps` batches in one process: steps // size, at least 1.

    For datasets that repeat; a dataset that ends needs no number. Equal on all ranks, as it must be: a rank
    with more steps than the others waits for them forever.

    Raises UsageError for less than one step.
    """
    if steps < 1:
        raise UsageError(
            f"an epoch of {steps} steps", fix="pass the number of batches in one process, 1 or more"
        )
    return max(1, steps // int(hvd.size()))


def average(value: float | Mapping[str, float], name: str = "metric") -> Any:
    """The mean over ranks, every rank counting the same, as float; of a mapping, a dict of means.

    Takes Python numbers, numpy scalars and scalar tensors: the result of a Keras metric, or of
    `model.evaluate(..., return_dict=True)`. Every rank calls it, with the same keys.
    """
    if isinstance(value, Mapping):
        keys = sorted(value)
        label = f"hvdkit.average.{name}.{','.join(keys)}"
        means = _means([value[key] for key in keys], label)
        return {key: means[keys.index(key)] for key in value}
    return _means([value], f"hvdkit.average.{name}")[0]


def _means(values: list[Any], name: str) -> list[float]:
    if not values:
        return []
    vector = np.array([float(value) for value in values], dtype=np.float64)
    return [float(total) for total in collectives.total(vector, name) / hvd.size()]
