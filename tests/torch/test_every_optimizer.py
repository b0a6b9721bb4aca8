"""Every class in torch.optim, found by looking: ranks start, resume and stay bit for bit equal."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from training import batch, equal_on_all_ranks, gathered, values

import hvdkit.torch as hvd

pytestmark = pytest.mark.ranks

CLASSES = sorted(
    (
        found
        for found in vars(torch.optim).values()
        if isinstance(found, type)
        and issubclass(found, torch.optim.Optimizer)
        and found is not torch.optim.Optimizer
    ),
    key=lambda found: found.__name__,
)
LR = 0.05


def test_classes_are_found() -> None:
    assert {torch.optim.SGD, torch.optim.LBFGS, torch.optim.SparseAdam} <= set(CLASSES)


def model_for(kind: type, seed: int) -> nn.Module:
    """SparseAdam takes sparse gradients only, Muon matrices only."""
    torch.manual_seed(seed)
    if kind is torch.optim.SparseAdam:
        return nn.EmbeddingBag(10, 3, sparse=True)
    bias = kind.__name__ != "Muon"
    return nn.Sequential(nn.Linear(6, 5, bias=bias), nn.Tanh(), nn.Linear(5, 2, bias=bias))


def optimizer_for(kind: Any, model: nn.Module, lr: float = LR) -> Any:
    decay = {"weight_decay": 0.1} if kind in (torch.optim.AdamW, torch.optim.SGD) else {}
    return kind(model.parameters(), lr=lr, **decay)


def loss_of(model: nn.Module, step: int) -> Tensor:
    if isinstance(model, nn.EmbeddingBag):
        return model(torch.tensor([[step % 10, (2 * step + hvd.rank()) % 10]])).square().sum()
    return (model(batch(step)) - 1).square().mean()


def train(model: nn.Module, optimizer: Any, steps: range) -> None:
    """With a closure, which each class takes and LBFGS needs."""
    for step in steps:

        def closure(step: int = step) -> Tensor:
            optimizer.zero_grad()
            loss = loss_of(model, step)
            loss.backward()
            return loss

        optimizer.step(closure)


def state_of(optimizer: Any) -> str:
    torch.set_printoptions(precision=20, threshold=10_000)
    return repr(optimizer.state_dict())


@pytest.mark.parametrize("compression", ["none", "fp16"])
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_fresh(kind: type, compression: str) -> None:
    """Each rank built another model and another learning rate: rank 0's are what all train with."""
    model = model_for(kind, seed=hvd.rank())
    start = gathered(values(model))[0]
    optimizer = optimizer_for(kind, model, LR * (1 + hvd.rank()))
    hvd.DistributedOptimizer(optimizer, model, fp16_allreduce=compression == "fp16")
    hvd.broadcast(model, optimizer)
    begun = values(model)
    untouched = state_of(optimizer) == state_of(optimizer_for(kind, model_for(kind, 0)))
    train(model, optimizer, range(3))
    assert begun == start, "broadcast() changed rank 0's weights"
    assert untouched, "broadcast() left traces in a state that had not begun"
    assert all(group["lr"] == LR for group in optimizer.param_groups)
    assert values(model) != start
    assert equal_on_all_ranks(values(model))
    assert equal_on_all_ranks(state_of(optimizer))


@pytest.mark.parametrize("wrap_first", [True, False], ids=["wrapped-then-loaded", "loaded-then-wrapped"])
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_resumed_on_rank_zero_only(kind: type, wrap_first: bool) -> None:
    """Goes on exactly where the run that was not interrupted goes."""
    straight = model_for(kind, 0)
    optimizer = hvd.DistributedOptimizer(optimizer_for(kind, straight), straight)
    train(straight, optimizer, range(3))
    saved, saved_state = copy.deepcopy((straight.state_dict(), optimizer.state_dict()))
    resumed = model_for(kind, seed=1 + hvd.rank())
    again = optimizer_for(kind, resumed, 7.0)
    if wrap_first:
        hvd.DistributedOptimizer(again, resumed)
    if hvd.rank() == 0:
        resumed.load_state_dict(saved)
        again.load_state_dict(saved_state)
    if not wrap_first:
        hvd.DistributedOptimizer(again, resumed)
    hvd.broadcast(resumed, again)
    same_start = equal_on_all_ranks((values(resumed), state_of(again)))
    train(resumed, again, range(3, 6))
    hvd.unwrap(again)
    train(straight, optimizer, range(3, 6))
    assert same_start
    assert gathered(values(resumed)) == gathered(values(straight))
    assert equal_on_all_ranks((values(resumed), state_of(again)))
