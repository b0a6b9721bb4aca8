"""One process's batches, kept as they are returned, and given to every rank of a later run.

With the same batches, weights and random state each rank has that process's gradient, and so has their
average. The later run takes its steps at the process's learning rates, so that this stays so after the first.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from hvdkit.observe.records import read_run
from hvdkit.verify.hook.recorder import Recorder
from hvdkit.verify.hook.settings import Settings

FOLDER = "batches"  # of a record: a file for each pass over each loader
KEPT_BYTES = 1 << 30  # of all batches; what comes after is not kept, and not repeated
# What pickling raises for an object that it cannot write.
UNWRITABLE = (pickle.PicklingError, AttributeError, TypeError)


def keep_batches(recorder: Recorder) -> Callable[[int, int, Any], None]:
    """The function that keeps a batch: loader, epoch, batch. It does so for the steps asked for."""
    settings = recorder.settings
    folder = settings.path / FOLDER
    left = KEPT_BYTES if settings.keep else 0

    def keep(loader: int, epoch: int, batch: Any) -> None:
        nonlocal left
        taken = min(recorder.counts.values(), default=0)
        if left <= 0 or taken >= settings.keep:
            return
        try:
            written = pickle.dumps(batch)
        except UNWRITABLE:
            written = b""
        left = left - len(written) if written else 0
        if left > 0:
            folder.mkdir(exist_ok=True)
            with (folder / f"{loader}-{epoch}").open("ab") as file:
                file.write(written)

    return keep


def kept_batches(settings: Settings, loader: int, epoch: int) -> Iterator[Any] | None:
    """The batches of a pass in the run that is repeated; None where it kept none."""
    path = Path(settings.repeat) / FOLDER / f"{loader}-{epoch}"
    return _read(path) if settings.repeat and path.exists() else None


def _read(path: Path) -> Iterator[Any]:
    with path.open("rb") as file:
        while file.peek(1):
            yield pickle.load(file)


def repeat_rates(recorder: Recorder) -> None:
    """Take each step at the rates of the run that is repeated; the script finds its own after it."""
    recorded = read_run(Path(recorder.settings.repeat)).steps[0]
    rates = {(step.optimizer, step.number): step.rates for step in recorded}
    own: dict[int, list[Any]] = {}
    depth: dict[int, int] = {}  # a wrapper's step is around that of what it wraps

    def before(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        key = id(optimizer)
        if key not in recorder.counts:
            return
        depth[key] = depth.get(key, 0) + 1
        moment = recorder.optimizers.index(optimizer), recorder.counts[key] + 1
        if depth[key] > 1 or len(rates.get(moment, ())) != len(optimizer.param_groups):
            return
        own[key] = [group["lr"] for group in optimizer.param_groups]
        for group, rate in zip(optimizer.param_groups, rates[moment]):
            held = group["lr"]
            group["lr"] = torch.full_like(held, rate) if isinstance(held, torch.Tensor) else rate

    def after(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        key = id(optimizer)
        if key not in depth:
            return
        depth[key] -= 1
        if not depth[key]:
            for group, rate in zip(optimizer.param_groups, own.pop(key, ())):
                group["lr"] = rate

    register_optimizer_step_pre_hook(before)
    register_optimizer_step_post_hook(after)


def send_uncompressed() -> None:
    """Gradients are sent as they are: what a compression rounds is no matter of the average's scale."""
    from horovod.torch.compression import FP16Compressor, NoneCompressor

    FP16Compressor.compress = staticmethod(NoneCompressor.compress)
    FP16Compressor.decompress = staticmethod(NoneCompressor.decompress)


def normalise_alone() -> None:
    """Statistics of all ranks' batches are those of one, but for rounding: each rank takes its own."""
    from horovod.torch.sync_batch_norm import SyncBatchNorm

    SyncBatchNorm.forward = torch.nn.modules.batchnorm._BatchNorm.forward
