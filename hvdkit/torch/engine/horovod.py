"""The engine on Horovod: horovod.torch itself, started as hvdkit.bootstrap starts it.

The only module of hvdkit.torch that imports Horovod.
"""

from __future__ import annotations

from typing import Any

import horovod
import horovod.torch as hvd
from horovod.torch import optimizer as optimizers

from hvdkit.bootstrap.connect import connected
from hvdkit.bootstrap.launchers import refuse_copies

__all__ = ["hvd", "optimizers", "start", "title"]


def start(comm: Any, process_sets: Any) -> None:
    """Initialise Horovod, and check that the job is one job. See hvdkit.torch.init."""
    with connected(hvd, comm, process_sets) as launches:
        hvd.init(comm, process_sets)
    if comm is None:
        refuse_copies(launches, hvd.rank(), hvd.size())


def title() -> str:
    """The engine in a few words."""
    return f"Horovod {horovod.__version__}"
