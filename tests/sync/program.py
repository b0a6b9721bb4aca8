"""Every way to part the ranks that HVDKIT_CHECK_SYNC names, each provoked in plain horovod.torch, on 2 ranks.

Run by test_check_sync.py under horovodrun with HVDKIT_CHECK_SYNC=1. Prints one line for each scenario on each
rank: its name, the rank, and the cause that was named.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Callable

import horovod.torch as hvd
import torch
from torch import nn

from hvdkit.sync.history import HISTORY, History

SCENARIOS: dict[str, Callable[[], None]] = {}
Optimizer = Any


def scenario(make: Callable[[], None]) -> Callable[[], None]:
    """A scenario; its name, up to a "__", is the cause that must be named."""
    SCENARIOS[make.__name__] = make
    return make


def network(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def wrapped(model: nn.Module, optimizer: Optimizer | None = None) -> Optimizer:
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())


def loss_of(model: nn.Module) -> torch.Tensor:
    """Another loss on each rank."""
    x = torch.randn(4, 4, generator=torch.Generator().manual_seed(hvd.rank()))
    return (model(x) - 1).square().mean()


def train(model: nn.Module, optimizer: Optimizer, steps: int = 1) -> None:
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(model).backward()
        optimizer.step()


def send(model: nn.Module) -> None:
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)


@scenario
def healthy() -> None:
    model = network(hvd.rank())
    send(model)
    train(model, wrapped(model), 10)


@scenario
def healthy__by_object() -> None:
    """Resumed on rank 0, sent as objects."""
    model = network(hvd.rank())
    optimizer = wrapped(model)
    if hvd.rank() == 0:
        model.load_state_dict(network(5).state_dict())
    model.load_state_dict(hvd.broadcast_object(model.state_dict(), root_rank=0))
    optimizer.load_state_dict(hvd.broadcast_object(optimizer.state_dict(), root_rank=0))
    train(model, optimizer)


@scenario
def note__batch_norm() -> None:
    """Running statistics differ by design."""
    model = nn.Sequential(nn.BatchNorm1d(4), network())
    send(model)
    train(model, wrapped(model))


@scenario
def no_broadcast() -> None:
    model = network(0)
    for parameter in model.parameters():
        parameter.data.add_(hvd.rank())  # as an initialisation from another source of random numbers
    torch.manual_seed(0)
    train(model, wrapped(model))


@scenario
def seed() -> None:
    model = network(hvd.rank())
    train(model, wrapped(model))


@scenario
def resumed_late() -> None:
    model = network(hvd.rank())
    send(model)
    if hvd.rank() == 0:
        model.load_state_dict(network(5).state_dict())
    train(model, wrapped(model))


@scenario
def phantom_step() -> None:
    """As Horovod's examples resume: rank 0 has the optimizer's state, the others step to get one."""
    model = network(0)
    optimizer = wrapped(model, torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.1))
    if hvd.rank() == 0:
        moments = [
            {"step": torch.tensor(3.0), "exp_avg": torch.ones_like(p), "exp_avg_sq": torch.ones_like(p)}
            for p in model.parameters()
        ]
        groups = optimizer.state_dict()["param_groups"]
        optimizer.load_state_dict({"state": dict(enumerate(moments)), "param_groups": groups})
    send(model)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    train(model, optimizer)


def resume(model: nn.Module, optimizer: Optimizer, momentum: bool = False) -> None:
    """What a script that was stopped does: rank 0 loads, and sends weights and optimizer state alone."""
    if hvd.rank() == 0:
        model.load_state_dict(network(5).state_dict())
        groups = optimizer.state_dict()["param_groups"]
        buffers = enumerate(torch.ones_like(p) for p in model.parameters())
        state = {i: {"momentum_buffer": buffer} for i, buffer in buffers} if momentum else {}
        optimizer.load_state_dict({"state": state, "param_groups": groups})
    send(model)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)


def scheduled(optimizer: Optimizer) -> Any:
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))


@scenario
def scheduler_resumed() -> None:
    """The rates are equal until the scheduler steps: the second comparison finds them."""
    model = network(0)
    optimizer = wrapped(model, torch.optim.SGD(model.parameters(), lr=0.1))
    scheduler = scheduled(optimizer)
    if hvd.rank() == 0:
        scheduler.load_state_dict({**scheduler.state_dict(), "last_epoch": 3})
    resume(model, optimizer)
    for _ in range(5):
        train(model, optimizer, 2)
        scheduler.step()


@scenario
def scheduler_resumed__phantom() -> None:
    """Horovod steps on rank 1, which has no momentum yet; without weight decay that moves nothing."""
    model = network(0)
    optimizer = wrapped(model)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    if hvd.rank() == 0:
        scheduler.load_state_dict({**scheduler.state_dict(), "gamma": 0.25})
    resume(model, optimizer, momentum=True)
    scheduler.step()
    train(model, optimizer)


@scenario
def learning_rate__after_a_resume() -> None:
    """The scheduler's state is sent, as it should be; later rank 0 alone steps it."""
    model = network(0)
    optimizer = wrapped(model)
    scheduler = scheduled(optimizer)
    if hvd.rank() == 0:
        scheduler.load_state_dict({**scheduler.state_dict(), "last_epoch": 3})
    scheduler.load_state_dict(hvd.broadcast_object(scheduler.state_dict(), root_rank=0))
    resume(model, optimizer, momentum=True)
    for _ in range(10):
        train(model, optimizer)
        if hvd.rank() == 0:
            scheduler.step()


@scenario
def epoch_resumed() -> None:
    """Rank 0 goes on at epoch 3, the others start at 0, and the rate is computed by hand."""
    model = network(0)
    optimizer = wrapped(model, torch.optim.AdamW(model.parameters(), lr=0.1))
    resume(model, optimizer)
    start = 3 if hvd.rank() == 0 else 0
    for epoch in range(start, start + 10):
        optimizer.param_groups[0]["lr"] = 0.1 / (1 + epoch)
        train(model, optimizer)


@scenario
def scaler_resumed() -> None:
    model = network(0)
    optimizer = wrapped(model)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    if hvd.rank() == 0:
        scaler.load_state_dict({**scaler.state_dict(), "scale": 8.0})
    resume(model, optimizer)
    scaler.scale(loss_of(model)).backward()
    optimizer.synchronize()
    with optimizer.skip_synchronize():
        scaler.step(optimizer)
    scaler.update()


@scenario
def not_wrapped() -> None:
    model = network()
    send(model)
    train(model, torch.optim.SGD(model.parameters(), lr=0.1))


@scenario
def uncovered() -> None:
    model = network()
    send(model)
    model[0].requires_grad_(False)
    optimizer = wrapped(model)
    model[0].requires_grad_(True)
    train(model, optimizer)


@scenario
def unsent() -> None:
    model = network()
    send(model)
    torch.manual_seed(hvd.rank())
    model[2] = nn.Linear(8, 1)
    train(model, wrapped(model))


@scenario
def clipping() -> None:
    """Rank 0 clips what it is about to send, rank 1 what has been averaged already."""
    model = network()
    send(model)
    optimizer = wrapped(model)
    loss = 100 * loss_of(model)
    if hvd.rank() == 1:
        hvd.allreduce(torch.ones(1), name="rank 0 has clipped")
    loss.backward()
    while hvd.rank() == 1 and not all(hvd.poll(handle) for handle, _ in optimizer._handles.values()):
        time.sleep(0.01)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    if hvd.rank() == 0:
        hvd.allreduce(torch.ones(1), name="rank 0 has clipped")
    optimizer.step()


@scenario
def learning_rate() -> None:
    model = network()
    send(model)
    optimizer = wrapped(model)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
    for _ in range(10):
        train(model, optimizer)
        if hvd.rank() == 0:
            scheduler.step()


@scenario
def skipped_step() -> None:
    """An overflow on rank 0 alone, which skips the step before the gradients are averaged."""
    model = network()
    send(model)
    optimizer = wrapped(model)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    scaler.scale(loss_of(model)).backward()
    optimizer.synchronize()
    if hvd.rank() == 0:
        model[0].weight.grad[0, 0] = float("inf")  # what this rank would see had it looked before the average
    with optimizer.skip_synchronize():
        scaler.step(optimizer)
    scaler.update()


@scenario
def join() -> None:
    """Rank 1 takes a tenth step, whose check finds rank 0 gone; both are compared afterwards."""
    model = network()
    send(model)
    optimizer = wrapped(model)
    train(model, optimizer, 9 + hvd.rank())
    hvd.join()
    train(model, torch.optim.SGD(model.parameters(), lr=0.0))


def adasum(make: Callable[..., Any], start: int) -> None:
    model = network(start)
    if not start:
        send(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    train(model, make(optimizer, named_parameters=model.named_parameters(), op=hvd.Adasum), 10)


def healthy__adasum() -> None:
    """Each rank's momentum is its own; the weights agree."""
    adasum(hvd.DistributedOptimizer, 0)


def healthy__adasum_of_hvdkit() -> None:
    from hvdkit.torch import DistributedOptimizer

    adasum(DistributedOptimizer, 0)


def seed__adasum() -> None:
    """The weights do not."""
    adasum(hvd.DistributedOptimizer, 1 + hvd.rank())


def main() -> None:
    hvd.init()
    # Horovod has Adasum for the CPU under MPI alone. Before the others: the last one joins.
    mpi = (healthy__adasum, healthy__adasum_of_hvdkit, seed__adasum) if hvd.mpi_enabled() else ()
    for name, run in {**{make.__name__: make for make in mpi}, **SCENARIOS}.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        vars(HISTORY).update(vars(History(watched=True)))
        cause = "none"
        try:
            run()
        except Exception as error:
            cause = getattr(error, "cause", f"{type(error).__name__}: {error}")
            print(f"{name} message: {error}", file=sys.stderr)
        print(f"{name} rank {hvd.rank()}: {cause}", flush=True)
        hvd.barrier()


if __name__ == "__main__":
    main()
