"""What a run has reached: an evaluation, the length of a pass, and what happens after the last step.

A process that ends by itself has done things since its last step (an evaluation, a last checkpoint). They are
added to the record of that step.
"""

from __future__ import annotations

import atexit
import functools
import os
from collections.abc import Sized
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader, IterableDataset

from hvdkit.observe.records import EVALUATION, LEAVES_OUT, PASS_LENGTH, RATE_LEFT, RESUME, complete
from hvdkit.verify.hook.probe import probe_at_end
from hvdkit.verify.hook.recorder import PENDING, Recorder
from hvdkit.verify.hook.stored import stored


def watch_reached(recorder: Recorder) -> None:
    """Note evaluations and files that are loaded; complete the record where the process ends by itself."""
    _watch_evaluation(recorder)
    _watch_load(recorder)
    atexit.register(_complete, recorder)
    atexit.register(_draw_again, recorder)  # before that, which a data set that raises does not end
    run = BaseProcess.run

    def completed(process: BaseProcess) -> None:
        run(process)
        _complete(recorder)  # multiprocessing ends its processes past atexit

    BaseProcess.run = completed  # type: ignore[method-assign,assignment]


def note_length(recorder: Recorder, loader: DataLoader[Any], number: int) -> None:
    """Batches of one pass, and samples that are in none, where the loader knows."""
    if has_length(loader):
        recorder.note_once(PASS_LENGTH, f"{number} {len(loader)}")
    if loader.drop_last and loader.batch_size and isinstance(loader.sampler, Sized):
        recorder.note_once(LEAVES_OUT, f"{number} {len(loader.sampler) % loader.batch_size}")


def has_length(loader: DataLoader[Any]) -> bool:
    """Whether `len(loader)` is known."""
    whole = loader.dataset if isinstance(loader.dataset, IterableDataset) else loader._index_sampler
    return isinstance(whole, Sized)


def _watch_evaluation(recorder: Recorder) -> None:
    train = torch.nn.Module.train

    @functools.wraps(train)
    def watched(self: torch.nn.Module, mode: bool = True) -> torch.nn.Module:
        if not mode:
            recorder.note_once(EVALUATION)
        return train(self, mode)

    torch.nn.Module.train = watched  # type: ignore[method-assign,assignment]


def _watch_load(recorder: Recorder) -> None:
    load = torch.load

    @functools.wraps(load)
    def watched(*args: Any, **kwargs: Any) -> Any:
        recorder.note_once(RESUME)
        return load(*args, **kwargs)

    torch.load = torch.serialization.load = watched


def _records(recorder: Recorder) -> Path | None:
    """The file of this process, if it has recorded; a forked one has its parent's."""
    file = recorder.file
    return file if file is not None and file.stem.endswith(f"-{os.getpid()}") else None


def _draw_again(recorder: Recorder) -> None:
    if _records(recorder):
        recorder.draw_again(probe_at_end)


def _complete(recorder: Recorder) -> None:
    """Add what is pending to the last record of this process."""
    file = _records(recorder)
    if file is None:
        return
    recorder.saved += stored(recorder.writes)
    recorder.keep_texts()
    for optimizer in recorder.optimizers:
        for group in optimizer.param_groups:
            recorder.note_once(RATE_LEFT, repr(float(group.get("lr", 0.0))))
    complete(file, {name: getattr(recorder, name) for name in PENDING})
    for name in PENDING:
        getattr(recorder, name).clear()
