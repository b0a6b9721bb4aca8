"""The learning rate follows the global batch, and is not scaled where a scheduler would undo it."""

from __future__ import annotations

from unittest.mock import patch

import pytest
import torch

import hvdkit.torch as hvd
from hvdkit.torch.engine import hvd as engine
from hvdkit.torch.learning_rate import ScheduledTooEarlyError


@pytest.mark.ranks
def test_average_scales_by_the_world_size() -> None:
    assert hvd.scale_lr(0.1) == 0.2
    assert hvd.scale_lr(0.1, batches_per_allreduce=3) == pytest.approx(0.6)


@pytest.mark.ranks
def test_adasum_scales_by_the_host_with_nccl_and_not_at_all_on_cpu() -> None:
    assert hvd.lr_factor(use_adasum=True, batches_per_allreduce=4) == 1
    with patch.object(engine, "nccl_built", return_value=True):
        assert hvd.lr_factor(use_adasum=True) == 1
        with patch("torch.cuda.is_available", return_value=True):
            assert hvd.lr_factor(use_adasum=True, batches_per_allreduce=4) == 4 * hvd.local_size()


@pytest.mark.ranks
def test_every_group_of_an_optimizer_is_scaled_in_place() -> None:
    weights = [torch.nn.Parameter(torch.zeros(1)) for _ in range(2)]
    optimizer = torch.optim.SGD([{"params": weights[:1], "lr": 1.0}, {"params": weights[1:]}], lr=0.5)
    assert hvd.scale_lr(optimizer) is optimizer
    assert [group["lr"] for group in optimizer.param_groups] == [2.0, 1.0]


@pytest.mark.ranks
def test_a_tensor_as_learning_rate() -> None:
    optimizer = torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))], lr=torch.tensor(0.5))
    hvd.scale_lr(optimizer)
    assert optimizer.param_groups[0]["lr"].item() == 1.0


def test_an_optimizer_under_a_scheduler_is_refused(world_of_one: None) -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.5)
    torch.optim.lr_scheduler.StepLR(optimizer, 1)
    with pytest.raises(ScheduledTooEarlyError, match="already under a scheduler"):
        hvd.scale_lr(optimizer)
    assert optimizer.param_groups[0]["lr"] == 0.5
