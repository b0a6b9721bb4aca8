"""The engine on torch.distributed: the modules of `distributed`, and how a job on them starts."""

from __future__ import annotations

import os
from typing import Any

import torch

from hvdkit.errors import UsageError
from hvdkit.torch.engine import distributed as hvd
from hvdkit.torch.engine.distributed import optimizer as optimizers
from hvdkit.torch.engine.distributed.world import backend

__all__ = ["hvd", "optimizers", "start", "title"]


def start(comm: Any, process_sets: Any) -> None:
    """Connect the ranks. See hvdkit.torch.init."""
    if os.environ.get("HVDKIT_CHECK_SYNC"):
        raise UsageError(
            "HVDKIT_CHECK_SYNC is set, and the engine is torch.distributed",
            why="it watches the functions of horovod.torch, and would compare nothing",
            fix="unset it, and call hvd.check_sync(model, optimizer) in the script",
        )
    hvd.init(comm, process_sets)


def title() -> str:
    """The engine in a few words."""
    return f"torch.distributed of PyTorch {torch.__version__} ({backend()})"
