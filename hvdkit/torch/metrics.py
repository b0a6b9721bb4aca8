"""Numbers over all ranks: `average`, `sum_` and a sample-weighted `Mean`; every rank gets the same bits.

For metrics, a few numbers at a time: not for gradients, which DistributedOptimizer reduces.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Union, overload

import torch
from torch import Tensor

from hvdkit.errors import HvdkitError
from hvdkit.torch.engine import hvd

Metric = Union[float, Tensor]

_EXACT = 2**53  # float64 holds every integer up to here


class NotAMetricError(HvdkitError):
    """The value is not a real number, nor a tensor or mapping of them."""


class InexactSumError(HvdkitError):
    """A sum of integers is too large to be exact."""


class EmptyMeanError(HvdkitError):
    """No rank has added a sample, so there is no mean."""


@overload
def average(value: float, name: str = ...) -> float: ...
@overload
def average(value: Tensor, name: str = ...) -> Tensor: ...
@overload
def average(value: Mapping[str, Metric], name: str = ...) -> dict[str, Any]: ...
def average(value: Metric | Mapping[str, Metric], name: str = "metric") -> Any:
    """The mean over ranks, every rank counting the same. A collective: every rank calls it.

    Integers are averaged as real numbers (Horovod's own allreduce rounds them down). Where ranks saw
    different numbers of samples, use `Mean`.

    Args:
        value: a number, a tensor of any shape and device, or a mapping of names to them; a mapping is
            reduced in one collective.
        name: tells concurrent metrics apart in Horovod's timeline and stall warnings.

    Returns:
        A float for a number; for a tensor one of its shape, device and floating dtype (float64 for
        integers); for a mapping a dict of these.

    Raises:
        NotAMetricError: the value is something else.
    """
    return _reduce(value, f"hvdkit.average.{name}", divide=True)


@overload
def sum_(value: float, name: str = ...) -> float: ...
@overload
def sum_(value: Tensor, name: str = ...) -> Tensor: ...
@overload
def sum_(value: Mapping[str, Metric], name: str = ...) -> dict[str, Any]: ...
def sum_(value: Metric | Mapping[str, Metric], name: str = "metric") -> Any:
    """The sum over ranks; takes and returns what `average` does, but integers stay integers (int64).

    Raises:
        NotAMetricError: the value is something else.
        InexactSumError: an integer sum is over 2**53.
    """
    return _reduce(value, f"hvdkit.sum.{name}", divide=False)


class Mean:
    """The mean over all samples of all ranks, whatever each rank's share: reduced once, when asked for.

        loss = Mean()
        for x, y in loader:
            loss.update(criterion(model(x), y), len(x))
        print(loss.compute())

    `update` is local and does not wait for the device; `compute` is a collective.
    """

    def __init__(self, name: str = "mean") -> None:
        self.name = name
        self._total: Metric = 0.0
        self._count = 0

    def update(self, value: Metric, count: int = 1) -> None:
        """Add the mean of `count` samples: a number or a tensor of one element."""
        if isinstance(value, Tensor):
            value = value.detach().double().reshape(())
        self._total = self._total + value * count
        self._count += count

    def compute(self) -> float:
        """The mean since the start, as a float, equal on every rank. Every rank calls it.

        Raises:
            EmptyMeanError: on every rank, when none has added a sample.
        """
        totals = sum_({"total": float(self._total), "count": self._count}, self.name)
        if totals["count"] == 0:
            raise EmptyMeanError(
                f"the mean {self.name!r} has no samples on any rank",
                why="the mean of no samples is undefined",
                fix="update it before compute, or check that the loader is not empty",
            )
        return float(totals["total"] / totals["count"])


def _reduce(value: Any, name: str, *, divide: bool) -> Any:
    if not isinstance(value, Mapping):
        return _reduce_all({"": value}, name, divide=divide)[""]
    # The keys in the name: ranks that report different metrics stall with both names shown, instead of
    # adding one metric to another.
    return _reduce_all(value, f"{name}.{','.join(sorted(value))}", divide=divide)


def _reduce_all(values: Mapping[str, Any], name: str, *, divide: bool) -> dict[str, Any]:
    keys = sorted(values)
    if not keys:
        return {}
    flat = [_flatten(values[key]) for key in keys]
    # On the CPU in float64: one dtype and one device for all, whichever each value has.
    total = hvd.allreduce(torch.cat(flat), op=hvd.Sum, name=name)
    if divide:
        total /= hvd.size()
    parts = dict(zip(keys, total.split([part.numel() for part in flat])))
    return {key: _restore(value, parts[key], divide=divide) for key, value in values.items()}


def _flatten(value: Any) -> Tensor:
    if isinstance(value, Tensor) and not value.is_complex():
        return value.detach().to("cpu", torch.float64).reshape(-1)
    if isinstance(value, Real):
        return torch.tensor([float(value)], dtype=torch.float64)
    raise NotAMetricError(
        f"{value!r} is neither a real number nor a tensor of them",
        why="it has no mean or sum over ranks",
        fix="pass a float, an int, a real tensor, or a mapping of names to these",
    )


def _restore(value: Any, reduced: Tensor, *, divide: bool) -> Any:
    """The reduced numbers in the type of the value they came from."""
    if isinstance(value, Tensor):
        floating = value.is_floating_point()
        dtype = value.dtype if floating else torch.float64 if divide else torch.int64
        if not floating and not divide:
            _check_exact(reduced)
        return reduced.reshape(value.shape).to(value.device, dtype)
    if divide or not isinstance(value, Integral):
        return reduced.item()
    _check_exact(reduced)
    return int(reduced.item())


def _check_exact(total: Tensor) -> None:
    if total.numel() and total.abs().max() > _EXACT:
        raise InexactSumError(
            f"an integer sum over ranks is {total.abs().max().item():.0f}, over 2**53",
            why="sums are taken in float64, which would round it",
            fix="reduce it with hvd.allreduce(tensor, op=hvd.Sum) in int64",
        )
