"""Small models, data per rank and the DDP reference for the tests of the optimizer side.

Inside a job a failing rank must not leave the other one waiting: a test gathers what each rank saw first,
and asserts on all of it on every rank.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable

import torch
import torch.distributed as dist
from ports import free_port
from torch import Tensor, nn

import hvdkit.torch as hvd

# Read by hvd.init(), which the session's fixture calls after this import: lets a test add a process set.
os.environ.setdefault("HOROVOD_DYNAMIC_PROCESS_SETS", "1")

# Each test leaves an optimizer with its hooks to the collector, which DistributedOptimizer then runs to be
# sure of the name: without this it would go through all of torch each time.
gc.freeze()

WIDTH = 6
Optimizers = Callable[[nn.Module], torch.optim.Optimizer]


def mlp(seed: int = 0) -> nn.Sequential:
    """A fully connected model, the same on all ranks for one seed."""
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(WIDTH, 8), nn.Tanh(), nn.Linear(8, 1))


def conv_net(seed: int = 0) -> nn.Sequential:
    """A convolutional model for images of shape (3, 8, 8)."""
    torch.manual_seed(seed)
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 2))


def batch(step: int, *shape: int) -> Tensor:
    """What this rank sees at a step: different on each rank, the same in each run."""
    generator = torch.Generator().manual_seed(1000 * step + hvd.rank())
    return torch.randn(*(shape or (4, WIDTH)), generator=generator)


def loss_of(model: nn.Module, step: int, *shape: int) -> Tensor:
    """A loss that is not symmetric, so that no gradient vanishes."""
    return (model(batch(step, *shape)) - 1).square().mean()


def values(model: nn.Module) -> list[list[float]]:
    """All parameters, exactly: float64 holds every value of the narrower types."""
    return [parameter.detach().double().flatten().tolist() for parameter in model.parameters()]


def gathered(value: Any) -> list[Any]:
    """`value` of all ranks, on all ranks."""
    return hvd.allgather_object(value, name="tests.gathered")  # type: ignore[no-any-return]


def equal_on_all_ranks(value: Any) -> bool:
    """Whether all ranks hold the same, and it is no NaN."""
    return all(other == value for other in gathered(value))


def raised(action: Callable[[], object]) -> BaseException | None:
    """What `action` raises, for gathering before asserting."""
    try:
        action()
    except Exception as error:
        return error
    return None


@contextmanager
def process_group() -> Iterator[None]:
    """torch.distributed over the ranks of this job, for comparing with DistributedDataParallel."""
    if dist.is_initialized():  # by the engine below hvdkit.torch
        yield
        return
    port = hvd.broadcast_object(free_port(), 0, name="tests.port")
    dist.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=hvd.rank(), world_size=hvd.size()
    )
    try:
        yield
    finally:
        dist.destroy_process_group()
