"""Metrics over ranks: right for every type, one collective, the same bits everywhere."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
import torch

import hvdkit.torch as hvd
from hvdkit.torch.engine import hvd as engine
from hvdkit.torch.metrics import EmptyMeanError, InexactSumError, NotAMetricError

pytestmark = pytest.mark.ranks


def test_numbers() -> None:
    rank = hvd.rank()
    assert hvd.average(rank) == 0.5, "integers are not rounded down"
    assert hvd.average(rank == 0) == 0.5
    assert hvd.average(0.1 + rank) == pytest.approx(0.6)
    assert hvd.average(np.float32(rank)) == 0.5
    assert isinstance(hvd.average(1), float)
    total = hvd.sum_(rank + 1)
    assert (total, type(total)) == (3, int)
    assert (hvd.sum_(0.5), hvd.sum_(np.int64(rank))) == (1.0, 1)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_floating_tensors_keep_shape_and_dtype(dtype: torch.dtype) -> None:
    value = torch.full((2, 3), hvd.rank() + 1.0, dtype=dtype, requires_grad=True)
    mean = hvd.average(value)
    assert (mean.dtype, mean.shape, mean.requires_grad) == (dtype, value.shape, False)
    assert mean.unique().tolist() == [1.5]
    assert value.tolist() == [[hvd.rank() + 1.0] * 3] * 2, "the given tensor is untouched"


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int32, torch.int64])
def test_integer_tensors_do_not_overflow_or_floor(dtype: torch.dtype) -> None:
    value = torch.tensor([200, hvd.rank()]).to(dtype)
    ones = int(dtype is torch.bool)
    assert hvd.sum_(value).tolist() == ([2, 1] if ones else [400, 1])
    assert hvd.sum_(value).dtype is torch.int64
    assert hvd.average(value).tolist() == ([1.0, 0.5] if ones else [200.0, 0.5])


def test_mapping_is_one_collective_whatever_its_order() -> None:
    values = {"loss": hvd.rank() + 0.5, "hits": hvd.rank(), "per class": torch.tensor([1.0, hvd.rank()])}
    if hvd.rank() == 1:
        values = dict(reversed(values.items()))
    with patch.object(engine, "allreduce", wraps=engine.allreduce) as allreduce:
        means = hvd.average(values, "train")
    assert allreduce.call_count == 1
    assert list(means) == list(values)
    assert (means["loss"], means["hits"], means["per class"].tolist()) == (1.0, 0.5, [1.0, 0.5])
    assert hvd.sum_({}) == {}


def test_every_rank_gets_the_same_bits() -> None:
    generator = torch.Generator().manual_seed(hvd.rank())
    value = torch.randn(1001, generator=generator) * 10.0 ** torch.randint(
        -20, 20, (1001,), generator=generator
    )
    results = [hvd.average(value), hvd.sum_(value), torch.tensor(hvd.average({"x": value[0].item()})["x"])]
    zero, one = hvd.allgather_object([result.numpy().tobytes() for result in results], name="bits")
    assert zero == one


def test_a_nan_on_one_rank_is_seen_on_all() -> None:
    assert np.isnan(hvd.average(float("nan") if hvd.rank() == 1 else 0.0))


def test_what_is_no_metric_is_refused() -> None:
    for value in ("0.5", None, 1j, torch.tensor(1j), [1.0]):
        with pytest.raises(NotAMetricError):
            hvd.average(value)  # type: ignore[call-overload]


def test_an_integer_sum_that_float64_cannot_hold_is_refused() -> None:
    assert hvd.sum_(2**52) == 2**53
    for value in (2**53, torch.tensor([2**53])):
        with pytest.raises(InexactSumError, match="18014398509481984"):
            hvd.sum_(value)


def test_mean_weighs_samples_not_ranks() -> None:
    samples = [[1.0], [2.0, 3.0, 6.0]][hvd.rank()]
    mean = hvd.Mean("loss")
    for sample in samples:
        mean.update(torch.tensor([sample], requires_grad=True), 1)
    assert mean.compute() == 3.0
    mean.update(9.0, count=2)
    assert mean.compute() == (12.0 + 36.0) / 8


def test_mean_without_samples_is_an_error_on_every_rank() -> None:
    mean = hvd.Mean("accuracy")
    with pytest.raises(EmptyMeanError, match="'accuracy' has no samples"):
        mean.compute()
    if hvd.rank() == 1:
        mean.update(1.0)
    assert mean.compute() == 1.0, "one rank without samples is fine"
