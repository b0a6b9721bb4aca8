"""What the reproductions share: small models, and what the ranks hold, gathered before any assertion."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import horovod.torch as hvd
import torch


@dataclass(frozen=True)
class Turns:
    """Events that one rank tells of and another waits for, so that a race has one outcome every time.

    folder: both ranks see it; an event is a file there.
    """

    folder: Path

    def done(self, event: str) -> None:
        """Tell of an event."""
        (self.folder / event).touch()

    def until(self, event: str, bound: float = 120.0) -> None:
        """Wait for an event, for so many seconds at most."""
        end = time.monotonic() + bound
        while not (self.folder / event).exists():
            assert time.monotonic() < end, f"{event} never came"
            time.sleep(0.01)


def net(seed: int = 0, outputs: int = 1) -> torch.nn.Linear:
    """A linear layer with the same weights on every rank, or other ones by another seed."""
    torch.manual_seed(seed)
    return torch.nn.Linear(3, outputs)


def sgd(model: torch.nn.Module, lr: float = 0.1, **options: Any) -> torch.optim.SGD:
    """Plain SGD."""
    return torch.optim.SGD(model.parameters(), lr=lr, **options)


def loss(model: torch.nn.Module, scale: float | None = None) -> torch.Tensor:
    """A loss whose gradient differs between the ranks: the input is rank + 1 everywhere."""
    return model(torch.full((2, 3), float(hvd.rank() + 1 if scale is None else scale))).sum()


def reduced(optimizer: Any, bound: float = 120.0) -> None:
    """Wait until the gradients of a wrapped optimizer are reduced, without its synchronize()."""
    end = time.monotonic() + bound
    while not all(hvd.poll(handle) for handle, _ in optimizer._handles.values()):
        assert time.monotonic() < end, "the other rank never came"
        time.sleep(0.01)


def gathered(value: Any) -> list[Any]:
    """Every rank's value, in rank order."""
    found: list[Any] = hvd.allgather_object(value)
    return found


def weights(model: torch.nn.Module) -> list[list[float]]:
    """Every rank's weights, in rank order."""
    return gathered([round(float(x), 6) for p in model.parameters() for x in p.detach().flatten()])


def same(model: torch.nn.Module) -> bool:
    """Whether all ranks have equal weights."""
    found = weights(model)
    return all(other == found[0] for other in found)
