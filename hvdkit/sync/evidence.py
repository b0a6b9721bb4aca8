"""What each rank knows of itself when the ranks turn out to differ: plain data that travels as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from hvdkit.sync.history import HISTORY, LOAD


@dataclass(frozen=True)
class Evidence:
    """One rank's.

    watched: whether events were noted, which HVDKIT_CHECK_SYNC switches on; where not, counts and last are
        empty, unsent too.
    wrapped: the optimizer reduces gradients; None without one.
    uncovered: parameters that it trains and does not reduce. unsent: parameters that were never broadcast.
    rates: learning rates. decays: whether there is weight decay. agreed: the ranks were equal at an earlier
        step of this optimizer. seed: of torch. counts, last: of events by kind (see history).
    """

    watched: bool
    wrapped: bool | None
    uncovered: list[str]
    unsent: list[str]
    rates: list[str]
    decays: bool
    agreed: bool
    seed: int
    skipped: int
    counts: dict[str, int]
    last: dict[str, int]

    def loaded_last(self) -> bool:
        """A state was loaded here after the last broadcast."""
        return self.last.get(LOAD, 0) > self.last.get("broadcast", 0)


def collect(named: Iterable[tuple[str, Tensor]], optimizer: Optimizer | None, covers_all: bool) -> Evidence:
    """This rank's evidence. covers_all: the optimizer is known to reduce whatever it trains."""
    names = {id(parameter): name for name, parameter in named}
    reduced: Any = getattr(optimizer, "_requires_update", None)  # set by Horovod when it wraps
    trained = [p for group in optimizer.param_groups for p in group["params"]] if optimizer else []
    return Evidence(
        watched=HISTORY.watched,
        wrapped=None if optimizer is None else covers_all or reduced is not None,
        uncovered=[]
        if covers_all or reduced is None
        else [names.get(id(p), "?") for p in trained if p.requires_grad and p not in reduced],
        unsent=[name for name, p in named if p.data_ptr() not in HISTORY.sent] if HISTORY.watched else [],
        rates=[f"{float(group['lr']):g}" for group in optimizer.param_groups if "lr" in group]
        if optimizer
        else [],
        decays=optimizer is not None and any(group.get("weight_decay") for group in optimizer.param_groups),
        agreed=optimizer in HISTORY.agreed,
        seed=torch.initial_seed(),
        skipped=HISTORY.skipped,
        counts=dict(HISTORY.counts),
        last=dict(HISTORY.last),
    )
