"""Collects what this rank knows of itself: the evidence that the causes of a difference are read from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from hvdkit.sync.evidence import Evidence
from hvdkit.sync.history import HISTORY


def collect(named: Sequence[tuple[str, Tensor]], optimizer: Optimizer | None, covers_all: bool) -> Evidence:
    """This rank's evidence. covers_all: the optimizer is known to reduce whatever it trains."""
    names = {id(parameter): name for name, parameter in named}
    reduced: Any = getattr(optimizer, "_requires_update", None)  # set by Horovod when it wraps
    trained = [p for group in optimizer.param_groups for p in group["params"]] if optimizer else []
    return Evidence(
        framework="torch",
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
