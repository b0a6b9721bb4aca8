"""Entry point: arrange for the check to be there once the script has imported torch and Horovod.

It serves two: HVDKIT_CHECK_SYNC, by which the ranks compare themselves, and the watch of `hvdkit run`, for
which each rank records and the launcher compares.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvdkit.observe.imports import after_import
from hvdkit.observe.tensorflow.optimizers import after_definition
from hvdkit.sync import folder
from hvdkit.sync.folder import Reader, Writer
from hvdkit.sync.history import BROADCAST, LOAD, REDUCE
from hvdkit.sync.settings import DEFAULT, OFF, VARIABLE, steps_due

if TYPE_CHECKING:  # they import torch, or TensorFlow
    from hvdkit.watch.record import Record
    from hvdkit.watch.tensorflow import OfStep, Steps

# What is noted of TensorFlow, by module: its class or "", its function, the event.
_NOTED = {
    "horovod.tensorflow.mpi_ops": [("", "_allreduce", REDUCE), ("", "_grouped_allreduce", REDUCE)],
    "horovod.tensorflow.functions": [("", "broadcast_variables", BROADCAST)],
    "hvdkit.keras.collectives.tensorflow": [("", "broadcast", BROADCAST)],
    "keras.src.engine.training": [("Model", "load_weights", LOAD)],
    "keras.src.models.model": [("Model", "load_weights", LOAD)],
}


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
            "tensorflow": _begin_tensorflow,
            **after_definition(_watch_updates),
            **{module: partial(_note_tensorflow, module) for module in _NOTED},
        }
    )


def _folder() -> Path:
    return Path(os.environ.get(folder.VARIABLE) or os.devnull)


@lru_cache(maxsize=1)
def _record() -> Record | None:
    from hvdkit.watch.record import Record

    return Record(_folder()) if _folder().is_dir() else None


def _begin_tensorflow() -> None:
    """The process has imported TensorFlow: it is the one that trains, unless another one is known to be."""
    if _folder().is_dir() and not Reader(_folder()).at().process:
        Writer(_folder()).at(0, False)


def _watch_updates(kind: Any, method: str) -> None:
    _steps().watch(kind, method)


@lru_cache(maxsize=1)
def _steps() -> Steps:
    from hvdkit.watch.tensorflow import Comparison, Record, Steps

    due: list[tuple[frozenset[int], OfStep]] = [
        (steps_due(os.environ.get(VARIABLE, "")), Comparison().compare)
    ]
    if _folder().is_dir():
        due.append((frozenset(DEFAULT), Record(Writer(_folder())).state))
    return Steps(due)


def _note_tensorflow(module: str) -> None:
    from hvdkit.watch.tensorflow import note_calls

    for owner, name, what in _NOTED[module]:
        found = sys.modules[module]
        note_calls(getattr(found, owner) if owner else found, name, what)


def _watch_torch() -> None:
    from hvdkit.watch.steps import watch_torch

    watch_torch()
    record = _record()
    if record:
        from hvdkit.launch.world import VARIABLE as WORLD

        record.begin()
        if os.environ.get(WORLD):  # no Horovod, whose import the steps of a job are counted from
            from hvdkit.watch.steps import count_steps

            count_steps(record.stepped_unwrapped)


def _watch_operations() -> None:
    from hvdkit.watch.steps import compare_after, count_steps, watch_operations

    watch_operations()
    record = _record()
    if record:
        record.watch_end()
        record.watch_calls()
        record.watch_epochs()
    comparison = compare_after(steps_due(os.environ.get(VARIABLE, "")))
    count_steps(comparison, *([record.stepped] if record else []))


def _watch_functions() -> None:
    from hvdkit.watch.steps import watch_functions

    watch_functions()


def _watch_optimizer() -> None:
    from hvdkit.observe.steps import hide_adasum_steps

    hide_adasum_steps()
    record = _record()
    if record:
        record.watch_waits()
