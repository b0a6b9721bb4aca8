"""check_sync(): silent where ranks are equal, and names what differs and where."""

from __future__ import annotations

from typing import Any, Callable

import pytest
import torch
from torch import nn
from training import gathered, loss_of, mlp, raised

import hvdkit.torch as hvd
from hvdkit.torch.sync import OutOfSyncError

pytestmark = pytest.mark.ranks


def prepared() -> tuple[nn.Module, Any]:
    model = nn.Sequential(nn.BatchNorm1d(6), *mlp())
    hvd.broadcast(model)
    optimizer = hvd.DistributedOptimizer(torch.optim.AdamW(model.parameters(), lr=0.1), model)
    loss_of(model, 0).backward()
    optimizer.step()
    return model, optimizer


def on_rank_one(change: Callable[[], object]) -> None:
    if hvd.rank() == 1:
        with torch.no_grad():
            change()


def test_equal_ranks_pass() -> None:
    model, optimizer = prepared()
    hvd.check_sync(model, optimizer)
    hvd.check_sync(model)
    hvd.check_sync(torch.compile(model) if hvd.rank() else model, optimizer)


def test_sparse_state_is_compared() -> None:
    model = nn.EmbeddingBag(4, 2, sparse=True)
    hvd.broadcast(model)
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), model)
    model(torch.tensor([[1, 2]])).sum().backward()
    optimizer.step()
    hvd.check_sync(model, optimizer)


def change_state(optimizer: Any, key: str) -> None:
    optimizer.state[optimizer.param_groups[0]["params"][3]][key].add_(1e-7)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("1.weight", lambda m, o: m[1].weight[0, 0].mul_(1 + 1e-7)),
        ("3.bias", lambda m, o: m[3].bias.neg_().add_(1e-9)),
        ("optimizer state exp_avg of 1.bias [3]", lambda m, o: change_state(o, "exp_avg")),
        ("optimizer state step of 1.bias [3]", lambda m, o: o.state[m[1].bias]["step"].add_(1)),
        ("optimizer param_groups.0.lr", lambda m, o: o.param_groups[0].update(lr=0.2)),
        ("optimizer state step of 1.bias [3]", lambda m, o: o.state.pop(m[1].bias)),
    ],
)
def test_names_what_differs(name: str, change: Callable[[Any, Any], object]) -> None:
    model, optimizer = prepared()
    on_rank_one(lambda: change(model, optimizer))
    errors = gathered(raised(lambda: hvd.check_sync(model, optimizer)))
    for error in errors:
        assert isinstance(error, OutOfSyncError)
        assert (error.name, error.ranks) == (name, (1,))
        assert "rank 1 differs from rank 0" in error.seen


def test_several_differences_are_counted() -> None:
    model, optimizer = prepared()
    on_rank_one(lambda: [parameter.add_(1) for parameter in model.parameters()])
    error = raised(lambda: hvd.check_sync(model, optimizer))
    assert "0.weight" in str(error) and "and 5 more" in str(error)


def test_buffers_are_compared_on_request() -> None:
    model, optimizer = prepared()
    hvd.check_sync(model, optimizer)
    errors = gathered(raised(lambda: hvd.check_sync(model, buffers=True)))
    assert [error.name for error in errors] == ["buffer 0.running_mean"] * hvd.size()
    hvd.broadcast(model)
    hvd.check_sync(model, optimizer, buffers=True)
