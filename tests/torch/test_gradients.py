"""Every way of using gradients gives, bit for bit, what DistributedDataParallel gives on the same data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import horovod.torch
import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from training import Optimizers, equal_on_all_ranks, gathered, loss_of, mlp, process_group, raised, values

import hvdkit.torch as hvd
from hvdkit.torch.guards import NotDistributedError, SecondBackwardError, UnreducedGradientsError

pytestmark = pytest.mark.ranks

STEPS = 6
WINDOW = 4  # does not divide BATCHES: the last window is shorter
BATCHES = 10
MAX_NORM = 0.1
MAX_VALUE = 0.02

OPTIMIZERS: dict[str, Optimizers] = {
    "sgd": lambda m: torch.optim.SGD(m.parameters(), lr=0.1),
    "momentum": lambda m: torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9, nesterov=True),
    "adam": lambda m: torch.optim.Adam(m.parameters(), lr=0.01),
    "adamw": lambda m: torch.optim.AdamW(m.parameters(), lr=0.01, weight_decay=0.1),
    "nadam": lambda m: torch.optim.NAdam(m.parameters(), lr=0.01),
    "radam": lambda m: torch.optim.RAdam(m.parameters(), lr=0.01),
    "adamax": lambda m: torch.optim.Adamax(m.parameters(), lr=0.01),
    "amsgrad": lambda m: torch.optim.Adam(m.parameters(), lr=0.01, amsgrad=True),
    "fused": lambda m: torch.optim.AdamW(m.parameters(), lr=0.01, fused=True),
}


@pytest.fixture(scope="module", autouse=True)
def _group(_job: None) -> Iterator[None]:
    with process_group():
        yield


def plain(model: nn.Module, optimizer: Any) -> None:
    for step in range(STEPS):
        optimizer.zero_grad(set_to_none=step % 2 == 0)
        loss_of(model, step).backward()
        optimizer.step()


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_steps_as_ddp(kind: str) -> None:
    ours, theirs = mlp(), mlp()
    plain(ours, hvd.DistributedOptimizer(OPTIMIZERS[kind](ours), ours))
    plain(DistributedDataParallel(theirs), OPTIMIZERS[kind](theirs))
    assert gathered(values(ours)) == gathered(values(theirs))
    assert equal_on_all_ranks(values(ours))
    assert values(ours) != values(mlp())


@pytest.mark.parametrize("by", ["norm", "value"])
def test_clips_as_ddp(by: str) -> None:
    ours, theirs = mlp(), mlp()
    optimizer = hvd.DistributedOptimizer(OPTIMIZERS["momentum"](ours), ours)
    reference, ddp = OPTIMIZERS["momentum"](theirs), DistributedDataParallel(theirs)
    norms = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # Horovod warns where step() would reduce again
        for step in range(STEPS):
            optimizer.zero_grad()
            reference.zero_grad()
            loss_of(ours, step).backward()
            loss_of(ddp, step).backward()
            if by == "norm":
                norm = hvd.clip_grad_norm_(optimizer, ours.parameters(), MAX_NORM)
                norms.append((norm, nn.utils.clip_grad_norm_(theirs.parameters(), MAX_NORM)))
            else:
                hvd.clip_grad_value_(optimizer, ours.parameters(), MAX_VALUE)
                nn.utils.clip_grad_value_(theirs.parameters(), MAX_VALUE)
            optimizer.step()
            reference.step()
    assert gathered(values(ours)) == gathered(values(theirs))
    assert gathered([a.item() for a, _ in norms]) == gathered([b.item() for _, b in norms])
    assert all(a.item() > MAX_NORM for a, _ in norms), "nothing was clipped, so nothing was shown"


def scaled_loss(scaler: torch.amp.GradScaler, model: nn.Module, step: int) -> torch.Tensor:
    """Overflows at step 2 on rank 1 alone."""
    loss = loss_of(model, step)
    if step == 2 and hvd.rank() == 1:
        loss = loss * float("inf")
    return scaler.scale(loss)


@pytest.mark.parametrize("clip", [None, MAX_NORM])
@pytest.mark.parametrize("kind", ["momentum", "adamw", "fused"])
def test_scaler_steps_as_ddp(kind: str, clip: float | None) -> None:
    ours, theirs = mlp(), mlp()
    optimizer = hvd.DistributedOptimizer(OPTIMIZERS[kind](ours), ours)
    reference, ddp = OPTIMIZERS[kind](theirs), DistributedDataParallel(theirs)
    scaler, reference_scaler = (torch.amp.GradScaler("cpu", init_scale=1024.0) for _ in range(2))
    scales = []
    for step in range(STEPS):
        optimizer.zero_grad()
        reference.zero_grad()
        scaled_loss(scaler, ours, step).backward()
        scaled_loss(reference_scaler, ddp, step).backward()
        hvd.scaler_step(scaler, optimizer, clip=clip)
        reference_scaler.unscale_(reference)
        if clip is not None:
            nn.utils.clip_grad_norm_(theirs.parameters(), clip)
        reference_scaler.step(reference)
        scaler.update()
        reference_scaler.update()
        scales.append((scaler.get_scale(), reference_scaler.get_scale()))
    assert gathered(values(ours)) == gathered(values(theirs))
    assert gathered(scales) == [scales] * hvd.size()
    assert [a for a, _ in scales] == [b for _, b in scales]
    assert scales[2][0] == 512.0, "the overflow did not happen"


def test_scaler_step_without_reduction_is_refused_on_all_ranks() -> None:
    model = mlp()
    optimizer = hvd.DistributedOptimizer(OPTIMIZERS["sgd"](model), model)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    scaled_loss(scaler, model, 2).backward()  # the overflow on rank 1
    error = raised(lambda: scaler.step(optimizer))
    optimizer.synchronize()
    assert gathered(type(error)) == [UnreducedGradientsError] * hvd.size()


CHANGES: dict[str, Callable[[nn.Module], object]] = {
    "norm": lambda model: nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM),
    "nothing to clip": lambda model: nn.utils.clip_grad_norm_(model.parameters(), 1e9),
    "value": lambda model: nn.utils.clip_grad_value_(model.parameters(), MAX_VALUE),
    "by hand": lambda model: model[2].bias.grad.mul_(0.5),  # type: ignore[index]
    "replaced": lambda model: setattr(model[2].bias, "grad", torch.ones(1)),  # type: ignore[index]
}


@pytest.mark.parametrize("arguments", [{}, {"groups": 2}, {"fp16_allreduce": True}])
@pytest.mark.parametrize("how", CHANGES)
def test_gradients_changed_while_they_are_reduced_are_refused(how: str, arguments: dict[str, Any]) -> None:
    """Clipped by torch or by hand: the next thing that needs the average says so, on all ranks."""
    model = mlp()
    optimizer = hvd.DistributedOptimizer(OPTIMIZERS["sgd"](model), model, **arguments)
    loss_of(model, 0).backward()
    CHANGES[how](model)
    error = raised(optimizer.step)
    assert gathered(type(error)) == [UnreducedGradientsError] * hvd.size()
    assert "2.bias" in str(error) and "fix: hvd.clip_grad_norm_(" in str(error)
    with pytest.warns(UserWarning, match="discards"):
        optimizer.zero_grad()  # and the optimizer is as good as new
    loss_of(model, 1).backward()
    optimizer.synchronize()
    CHANGES[how](model)  # in its place
    optimizer.step()
    assert equal_on_all_ranks(values(model))


@pytest.mark.parametrize("arguments", [{}, {"groups": 2}, {"backward_passes_per_step": 2}])
def test_a_second_backward_is_refused_with_what_to_write(arguments: dict[str, Any]) -> None:
    model = mlp()
    optimizer = hvd.DistributedOptimizer(OPTIMIZERS["sgd"](model), model, **arguments)
    for step in range(optimizer.backward_passes_per_step):
        loss_of(model, step).backward()
    error = raised(lambda: loss_of(model, 5).backward())
    assert gathered(type(error)) == [SecondBackwardError] * hvd.size()
    assert "why: " in str(error) and "hvd.accumulate(optimizer)" in str(error)
    with pytest.warns(UserWarning, match="discards"):
        optimizer.zero_grad()


def test_own_order_with_the_scaler() -> None:
    """synchronize, unscale_, anything, scaler.step: the optimizer remembers that it has reduced."""
    model = mlp()
    optimizer = hvd.DistributedOptimizer(OPTIMIZERS["momentum"](model), model)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    for step in range(STEPS):
        model.zero_grad()
        scaled_loss(scaler, model, step).backward()
        optimizer.synchronize()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_value_(model.parameters(), MAX_VALUE)
        scaler.step(optimizer)
        scaler.update()
    assert equal_on_all_ranks(values(model))


def windows() -> list[bool]:
    """For each batch whether it ends a window."""
    return [(i + 1) % WINDOW == 0 or i + 1 == BATCHES for i in range(BATCHES)]


def accumulated_by_ddp() -> list[list[float]]:
    model = mlp()
    ddp, optimizer = DistributedDataParallel(model), OPTIMIZERS["adamw"](model)
    for i, last in enumerate(windows()):
        with nullcontext() if last else ddp.no_sync():
            (loss_of(ddp, i) / WINDOW).backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()
    return values(model)


def test_accumulates_as_no_sync() -> None:
    reference = accumulated_by_ddp()
    model = mlp()
    optimizer = hvd.DistributedOptimizer(OPTIMIZERS["adamw"](model), model)
    for i, last in enumerate(windows()):
        with hvd.accumulate(optimizer, not last):
            (loss_of(model, i) / WINDOW).backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()
    assert gathered(values(model)) == gathered(reference)


@pytest.mark.parametrize("name", ["batches_per_allreduce", "backward_passes_per_step"])
def test_counts_backward_passes_as_no_sync(name: str) -> None:
    reference = accumulated_by_ddp()
    model = mlp()
    optimizer = hvd.DistributedOptimizer(OPTIMIZERS["adamw"](model), model, **{name: WINDOW})
    for i, last in enumerate(windows()):
        (loss_of(model, i) / WINDOW).backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()
    assert gathered(values(model)) == gathered(reference)


@pytest.mark.horovod
def test_accumulate_reduces_nothing_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    model = mlp()
    optimizer = hvd.DistributedOptimizer(OPTIMIZERS["sgd"](model), model)
    sent: list[str] = []
    reduce = horovod.torch.optimizer.allreduce_async_

    def counting(*args: Any, **kwargs: Any) -> Any:
        sent.append(kwargs["name"])
        return reduce(*args, **kwargs)

    monkeypatch.setattr(horovod.torch.optimizer, "allreduce_async_", counting)
    with hvd.accumulate(optimizer):
        loss_of(model, 0).backward()
        loss_of(model, 1).backward()
    inside = len(sent)
    optimizer.step()  # no backward() outside: step() reduces the sum
    assert gathered((inside, len(sent))) == [(0, 4)] * hvd.size()
    assert equal_on_all_ranks(values(model))


def test_accumulate_on_top_of_reduced_gradients_as_ddp() -> None:
    ours, theirs = mlp(), mlp()
    optimizer = hvd.DistributedOptimizer(OPTIMIZERS["sgd"](ours), ours)
    reference, ddp = OPTIMIZERS["sgd"](theirs), DistributedDataParallel(theirs)
    loss_of(ours, 0).backward()
    with hvd.accumulate(optimizer):
        loss_of(ours, 1).backward()
    loss_of(ours, 2).backward()
    optimizer.step()
    loss_of(ddp, 0).backward()
    with ddp.no_sync():
        loss_of(ddp, 1).backward()
    loss_of(ddp, 2).backward()
    reference.step()
    assert gathered(values(ours)) == gathered(values(theirs))


@pytest.mark.parametrize("wrapped", [False, pytest.param(True, marks=pytest.mark.horovod)])
def test_plain_optimizer_is_refused(wrapped: bool) -> None:
    model = mlp()
    other: Any = OPTIMIZERS["sgd"](model)
    if wrapped:
        other = horovod.torch.DistributedOptimizer(other, model.named_parameters())
    with pytest.raises(NotDistributedError):
        hvd.clip_grad_norm_(other, model.parameters(), 1.0)
    with pytest.raises(NotDistributedError):
        hvd.scaler_step(torch.amp.GradScaler("cpu"), other)
    with pytest.raises(NotDistributedError), hvd.accumulate(other):
        pass
