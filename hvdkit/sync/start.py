"""Entry point: arrange for the check to be there once the script has imported torch and Horovod.

It serves two: HVDKIT_CHECK_SYNC, by which the ranks compare themselves, and the watch of `hvdkit run`, for
which each rank records and the launcher compares.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from hvdkit.sync import folder
from hvdkit.sync.settings import DEFAULT, OFF, VARIABLE, steps_due
from hvdkit.verify.hook.imports import after_import

if TYPE_CHECKING:  # it imports torch
    from hvdkit.sync.record import Record


@lru_cache(maxsize=1)  # in a virtual environment Python reads the .pth twice
def start() -> None:
    """Called by hvdkit_check_sync.pth in every Python process in which HVDKIT_CHECK_SYNC is set.

    Most of them are no training (a launcher, a tool): nothing is said or refused before Horovod is imported.
    """
    if os.environ.get(VARIABLE, "").strip() in OFF and not _folder().is_dir():
        return
    if _folder().is_dir():
        from hvdkit.sync.stack import listen

        listen(_folder())
    after_import(
        {
            "torch": _watch_torch,
            "horovod.torch.mpi_ops": _watch_operations,
            "horovod.torch.functions": _watch_functions,
            "horovod.torch.optimizer": _watch_optimizer,
        }
    )


def _folder() -> Path:
    return Path(os.environ.get(folder.VARIABLE) or os.devnull)


@lru_cache(maxsize=1)
def _record() -> Record | None:
    from hvdkit.sync.record import Record

    return Record(_folder()) if _folder().is_dir() else None


def _watch_torch() -> None:
    from hvdkit.sync.watch import watch_torch

    watch_torch()
    record = _record()
    if record:
        from hvdkit.launch.world import VARIABLE as WORLD

        record.begin()
        if os.environ.get(WORLD):  # no Horovod, whose import the steps of a job are counted from
            from hvdkit.sync.watch import count_steps

            count_steps(record.stepped_unwrapped, [])


def _watch_operations() -> None:
    from hvdkit.sync.watch import compare, count_steps, watch_operations

    watch_operations()
    record = _record()
    if record:
        record.watch_end()
    count_steps(
        record.stepped if record else lambda _: None,
        [
            (steps_due(os.environ.get(VARIABLE, "")), compare),
            *([(frozenset(DEFAULT), record.state)] if record else []),
        ],
    )


def _watch_functions() -> None:
    from hvdkit.sync.watch import watch_functions

    watch_functions()


def _watch_optimizer() -> None:
    from hvdkit.verify.hook.steps import hide_adasum_steps

    hide_adasum_steps()
    record = _record()
    if record:
        record.watch_waits()
