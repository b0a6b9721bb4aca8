"""Entry point: arrange for the check to be there once the script has imported torch and Horovod."""

from __future__ import annotations

import os
from functools import lru_cache

from hvdkit.sync.settings import OFF, VARIABLE, steps_due
from hvdkit.verify.hook.imports import after_import


@lru_cache(maxsize=1)  # in a virtual environment Python reads the .pth twice
def start() -> None:
    """Called by hvdkit_check_sync.pth in every Python process in which the variable is set.

    Most of them are no training (a launcher, a tool): nothing is said or refused before Horovod is imported.
    """
    if os.environ.get(VARIABLE, "").strip() in OFF:
        return
    after_import(
        {
            "torch": _watch_torch,
            "horovod.torch.mpi_ops": _watch_operations,
            "horovod.torch.functions": _watch_functions,
            "horovod.torch.optimizer": _watch_optimizer,
        }
    )


def _watch_torch() -> None:
    from hvdkit.sync.watch import watch_torch

    watch_torch()


def _watch_operations() -> None:
    from hvdkit.sync.watch import check_steps, watch_operations

    watch_operations()
    check_steps(steps_due(os.environ.get(VARIABLE, "")))


def _watch_functions() -> None:
    from hvdkit.sync.watch import watch_functions

    watch_functions()


def _watch_optimizer() -> None:
    from hvdkit.verify.hook.steps import hide_adasum_steps

    hide_adasum_steps()
