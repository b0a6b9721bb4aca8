"""Adasum on MPI computes Adasum; without MPI it is refused before a step is taken."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from training import batch, equal_on_all_ranks, gathered, loss_of, mlp, raised, values

import hvdkit.torch as hvd
from hvdkit.torch.guards import AdasumUnavailableError, AdasumUnsupportedError, UnreducedGradientsError

pytestmark = pytest.mark.ranks

LR = 0.1


def sgd(model: nn.Module, **kwargs: Any) -> torch.optim.Optimizer:
    return hvd.DistributedOptimizer(
        torch.optim.SGD(model.parameters(), lr=LR), model, use_adasum=True, **kwargs
    )


def adasum(a: Tensor, b: Tensor) -> Tensor:
    """The rule of the paper (Maleki et al., Scaling distributed training with adaptive summation, 2020)."""
    return (1 - a.dot(b) / (2 * a.dot(a))) * a + (1 - a.dot(b) / (2 * b.dot(b))) * b


def test_one_step() -> None:
    """Of a model with one tensor, compared with the formula; two steps are the same rule twice."""
    if not hvd.mpi_enabled():
        errors = gathered(raised(lambda: sgd(mlp())))
        assert [type(error) for error in errors] == [AdasumUnavailableError] * hvd.size()
        assert "horovodrun --mpi" in errors[0].fix
        return
    model = nn.Linear(3, 1, bias=False)
    nn.init.constant_(model.weight, 0.5)
    start = model.weight.detach().flatten().clone()
    gradients = []
    for rank in range(hvd.size()):
        x = hvd.broadcast_object(batch(0, 4, 3), rank, name=f"x{rank}")
        copy = start.clone().requires_grad_()
        (x @ copy).square().mean().backward()
        gradients.append(copy.grad)
    optimizer = sgd(model)
    model(batch(0, 4, 3)).square().mean().backward()
    optimizer.step()
    expected = start + adasum(*(-LR * gradient for gradient in gradients))
    assert all(gathered(torch.allclose(model.weight.flatten(), expected, rtol=1e-5)))
    assert equal_on_all_ranks(values(model))


def test_hooks_state_and_late_parameters() -> None:
    if not hvd.mpi_enabled():
        with pytest.raises(AdasumUnavailableError):
            sgd(mlp())
        return
    model, head = mlp(), nn.Linear(1, 1)
    nn.init.ones_(head.weight)
    nn.init.zeros_(head.bias)
    model[0].weight.requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LR)
    steps: list[str] = []
    optimizer.register_step_pre_hook(lambda *_: steps.append("pre"))
    optimizer.register_step_post_hook(lambda *_: steps.append("post"))
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    assert hvd.DistributedOptimizer(optimizer, model, op=hvd.Adasum, fp16_allreduce=True) is optimizer
    for step in range(3):
        if step == 1:
            model[0].weight.requires_grad_(True)
            optimizer.add_param_group({"params": head.parameters(), "lr": 0.5})
        optimizer.zero_grad(set_to_none=True)
        head(model(batch(step))).square().mean().backward()
        optimizer.step()
        scheduler.step()
    assert steps == ["pre", "post"] * 3
    assert optimizer.param_groups[1]["lr"] == 0.125
    assert equal_on_all_ranks(values(model) + values(head))
    assert all(a != b for a, b in zip(values(model), values(mlp())))


def test_what_needs_averaged_gradients_is_refused() -> None:
    if not hvd.mpi_enabled():
        with pytest.raises(AdasumUnavailableError):
            sgd(mlp())
        return
    model = mlp()
    optimizer = sgd(model)
    with pytest.raises(AdasumUnsupportedError):
        hvd.clip_grad_norm_(optimizer, model.parameters(), 1.0)
    with pytest.raises(AdasumUnsupportedError):
        hvd.scaler_step(torch.amp.GradScaler("cpu"), optimizer)
    other = mlp()
    with pytest.raises(AdasumUnsupportedError):
        hvd.DistributedOptimizer(torch.optim.LBFGS(other.parameters()), other, use_adasum=True)
    loss_of(model, 0).backward()
    error = raised(optimizer.zero_grad)
    optimizer.step()
    hvd.DistributedOptimizer(hvd.unwrap(optimizer), model)
    loss_of(model, 1).backward()
    norm = hvd.clip_grad_norm_(optimizer, model.parameters(), 1.0)
    optimizer.step()
    assert gathered(type(error)) == [UnreducedGradientsError] * hvd.size()
    assert equal_on_all_ranks((norm.item(), values(model)))
