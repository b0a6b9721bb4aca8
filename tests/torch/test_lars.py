"""LARS against the paper's formula, number by number, against LARC, and on two ranks."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import horovod.torch
import pytest
import torch
from torch import Tensor, nn
from training import batch, equal_on_all_ranks, gathered, loss_of, mlp, values

import hvdkit.torch as hvd
from hvdkit.errors import UsageError

OPTIONS = {"momentum": 0.8, "weight_decay": 0.05, "trust_coefficient": 0.02}
RATES = [0.5, 0.5, 2.0, 1.0, 0.1]


def norm(vector: list[float]) -> float:
    return math.sqrt(sum(x * x for x in vector))


def papers_step(
    weight: list[float], gradient: list[float], speed: list[float], lr: float
) -> tuple[list[float], list[float]]:
    """Algorithm 1 of arXiv:1708.03888 on plain numbers: the new weight and the new momentum."""
    decay, momentum = OPTIONS["weight_decay"], OPTIONS["momentum"]
    ratio = 1.0
    if norm(weight) and norm(gradient):
        ratio = OPTIONS["trust_coefficient"] * norm(weight) / (norm(gradient) + decay * norm(weight))
    speed = [momentum * v + lr * ratio * (g + decay * w) for w, g, v in zip(weight, gradient, speed)]
    return [w - v for w, v in zip(weight, speed)], speed


def gradients_of(shape: torch.Size, steps: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(len(shape))
    return [torch.randn(shape, dtype=torch.float64, generator=generator) * 10**step for step in range(steps)]


def weights() -> list[nn.Parameter]:
    """A matrix, a vector, a bias that starts at zero, and a scalar; in float64, as plain numbers are."""
    torch.manual_seed(0)
    tensors = [torch.randn(3, 4), torch.randn(5), torch.zeros(2), torch.randn(())]
    return [nn.Parameter(tensor.double()) for tensor in tensors]


def test_the_papers_formula() -> None:
    parameters = weights()
    optimizer = hvd.LARS([{"params": parameters[:1]}, {"params": parameters[1:]}], lr=RATES[0], **OPTIONS)
    for parameter in parameters:
        parameter.grads = gradients_of(parameter.shape, len(RATES))
    expected = [(parameter.flatten().tolist(), [0.0] * parameter.numel()) for parameter in parameters]
    for step, lr in enumerate(RATES):
        for group in optimizer.param_groups:
            group["lr"] = lr
        for parameter in parameters:
            parameter.grad = parameter.grads[step].clone()
        optimizer.step()
        expected = [
            papers_step(weight, parameter.grads[step].flatten().tolist(), speed, lr)
            for (weight, speed), parameter in zip(expected, parameters)
        ]
        for (weight, speed), parameter in zip(expected, parameters):
            assert parameter.flatten().tolist() == pytest.approx(weight, rel=1e-12)
            assert optimizer.state[parameter]["momentum_buffer"].flatten().tolist() == pytest.approx(speed)
            assert torch.equal(parameter.grad, parameter.grads[step]), "the gradient is not to be changed"


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_a_layer_with_a_gradient_of_zeros_rests(weight_decay: float) -> None:
    still, left_out = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
    optimizer = hvd.LARS([still, left_out], lr=0.5, weight_decay=weight_decay)
    still.grad = torch.zeros(2)
    optimizer.step()
    assert still.tolist() == left_out.tolist() == [1, 1]
    assert list(optimizer.state) == [still]


def larc(parameter: nn.Parameter, gradient: Tensor, sgd: torch.optim.Optimizer) -> None:
    """One step of apex's LARC with clip=False around torch's SGD, as its source has it."""
    weight_norm, gradient_norm = parameter.norm(), gradient.norm()
    ratio = (
        OPTIONS["trust_coefficient"] * weight_norm / (gradient_norm + OPTIONS["weight_decay"] * weight_norm)
    )
    parameter.grad = (gradient + OPTIONS["weight_decay"] * parameter.detach()) * ratio.detach()
    sgd.step()


def test_larc_takes_the_same_steps_until_the_learning_rate_changes() -> None:
    ours, theirs = weights()[0], weights()[0]
    optimizer = hvd.LARS([ours], lr=0.5, **OPTIONS)
    sgd = torch.optim.SGD([theirs], lr=0.5, momentum=OPTIONS["momentum"])
    for step, gradient in enumerate(gradients_of(ours.shape, 4)):
        if step == 3:
            assert torch.allclose(ours, theirs, rtol=1e-12)
            optimizer.param_groups[0]["lr"] = sgd.param_groups[0]["lr"] = 0.05
        ours.grad = gradient.clone()
        optimizer.step()
        larc(theirs, gradient, sgd)
    assert not torch.allclose(ours, theirs, rtol=1e-3), "LARS keeps its speed when the learning rate falls"


def test_a_closure_is_evaluated_with_gradients() -> None:
    parameter = nn.Parameter(torch.ones(3))
    optimizer = hvd.LARS([parameter])

    def closure() -> float:
        loss = parameter.square().sum()
        loss.backward()
        return loss.item()

    assert optimizer.step(closure) == 3
    assert parameter.tolist() < [1, 1, 1]


@pytest.mark.parametrize("name", ["lr", "momentum", "weight_decay", "trust_coefficient"])
@pytest.mark.parametrize("value", [-0.1, math.nan])
def test_options_below_zero_are_refused(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=name):
        hvd.LARS([nn.Parameter(torch.ones(1))], **{name: value})


def test_sparse_gradients_are_refused() -> None:
    table = nn.Embedding(4, 2, sparse=True)
    table(torch.tensor([1])).sum().backward()
    with pytest.raises(UsageError, match="sparse"):
        hvd.LARS(table.parameters()).step()


def lars(model: nn.Module, lr: float = 2.0) -> hvd.LARS:
    return hvd.LARS(model.parameters(), lr=lr, weight_decay=0.01, trust_coefficient=0.02)


def train(model: nn.Module, optimizer: torch.optim.Optimizer, steps: range) -> None:
    for step in steps:
        optimizer.zero_grad()
        loss_of(model, step).backward()
        optimizer.step()


def state_of(optimizer: torch.optim.Optimizer) -> list[Any]:
    kept = optimizer.state_dict()
    speeds = [kept["state"][key]["momentum_buffer"].tolist() for key in sorted(kept["state"])]
    return [speeds, [group["lr"] for group in kept["param_groups"]]]


@pytest.mark.ranks
def test_two_ranks_step_as_one_process_with_both_batches() -> None:
    model, alone = mlp(), mlp()
    optimizer = hvd.DistributedOptimizer(lars(model), model)
    single = lars(alone)
    whole = torch.cat(gathered(batch(0)))
    (alone(whole) - 1).square().mean().backward()
    single.step()
    loss_of(model, 0).backward()
    optimizer.step()
    close = all(
        torch.allclose(ours, theirs, rtol=1e-5)
        for ours, theirs in zip(model.parameters(), alone.parameters())
    )
    assert all(gathered(close))
    assert equal_on_all_ranks(values(model))


@pytest.mark.ranks
def test_saved_resumed_and_broadcast(shared_path: Path) -> None:
    """Resumed on ranks that start with other weights, it goes on where the uninterrupted run goes."""
    straight = mlp()
    optimizer = hvd.DistributedOptimizer(lars(straight), straight)
    train(straight, optimizer, range(3))
    hvd.save(shared_path / "lars.pt", model=straight, optimizer=optimizer)
    resumed = mlp(seed=1 + hvd.rank())
    again = hvd.DistributedOptimizer(lars(resumed, lr=7.0), resumed)
    hvd.resume(shared_path / "lars.pt", model=resumed, optimizer=again)
    loaded = gathered((values(resumed), state_of(again)))
    wanted = gathered((values(straight), state_of(optimizer)))
    train(straight, optimizer, range(3, 5))
    train(resumed, again, range(3, 5))
    assert loaded == wanted
    assert all(speed != 0 for speed in wanted[0][1][0][0][0])
    assert gathered(values(resumed)) == gathered(values(straight))
    assert equal_on_all_ranks((values(resumed), state_of(again)))


@pytest.mark.ranks
def test_broadcast_from_rank_zero_alone() -> None:
    model = mlp(seed=hvd.rank())
    optimizer = hvd.DistributedOptimizer(lars(model, lr=1.0 + hvd.rank()), model)
    if hvd.rank() == 0:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                optimizer.state[parameter]["momentum_buffer"] = torch.full_like(parameter, 0.25)
    hvd.broadcast(model, optimizer)
    states = gathered(state_of(optimizer))
    train(model, optimizer, range(2))
    assert states[0] == states[1]
    assert states[1][1] == [1.0]
    assert states[1][0][1] == [0.25] * 8
    assert equal_on_all_ranks((values(model), state_of(optimizer)))


@pytest.mark.horovod
@pytest.mark.ranks
def test_horovods_own_functions_take_it() -> None:
    model = mlp(seed=hvd.rank())
    optimizer = horovod.torch.DistributedOptimizer(
        lars(model, lr=1.0 + hvd.rank()), named_parameters=model.named_parameters()
    )
    horovod.torch.broadcast_parameters(model.state_dict(), root_rank=0)
    horovod.torch.broadcast_optimizer_state(optimizer, root_rank=0)
    train(model, optimizer, range(3))
    kept = [group["trust_coefficient"] for group in optimizer.param_groups]
    assert gathered(kept) == [[0.02], [0.02]]
    assert equal_on_all_ranks((values(model), state_of(optimizer)))
