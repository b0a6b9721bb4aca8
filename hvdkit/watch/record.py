"""What a process under `hvdkit run` records of its training: steps, waits, and its state at a few steps.

It talks to no other rank and is in nobody's way: the launcher compares what the ranks have recorded.
"""

from __future__ import annotations

import functools
from dataclasses import asdict
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import torch
from torch.optim import Optimizer
from torch.utils.data import DataLoader

from hvdkit.sync.collect import collect
from hvdkit.sync.folder import Reader, Writer
from hvdkit.sync.history import HISTORY
from hvdkit.sync.keys import Keys
from hvdkit.sync.settings import DEFAULT

Named = list[tuple[str, torch.Tensor]]
_IDLE = 2  # steps without an average under way before that is reported
_APART = 100  # steps between two comparisons for an epoch: one of a few steps is not slowed down


class Record:
    """One process's record, in a folder made for it."""

    def __init__(self, folder: Path) -> None:
        self._writer, self._reader = Writer(folder), Reader(folder)
        self._steps = 0
        self._keys = Keys()
        self._idle: WeakKeyDictionary[Optimizer, int] = WeakKeyDictionary()
        self._overlapping: WeakSet[Optimizer] = WeakSet()
        self._named: WeakKeyDictionary[Optimizer, tuple[list[int], Named]] = WeakKeyDictionary()
        self._epochs = 0
        self._compared: WeakKeyDictionary[Optimizer, tuple[int, int]] = WeakKeyDictionary()

    def begin(self) -> None:
        """The process has imported torch: it is the one that trains, unless another one is known to be."""
        if not self._reader.at().process:
            self._writer.at(0, False)

    def stepped_unwrapped(self, _: Optimizer, __: int) -> None:
        """An optimizer has taken a step in a job that Horovod does not connect."""
        self._steps += 1
        self._writer.at(self._steps, False)

    def stepped(self, optimizer: Optimizer, step: int) -> None:
        """An optimizer has taken a step. Steps that reduce nothing are no steps of the job."""
        if hasattr(optimizer, "_requires_update"):
            self._steps += 1
            self._writer.at(self._steps, False)
        if self._is_due(optimizer, step):
            with self._writer.guarded(f"recording step {step} of {type(optimizer).__name__}"):
                self._record(optimizer, step)

    def _is_due(self, optimizer: Optimizer, step: int) -> bool:
        """After steps 1, 10, 100, ..., and after the first step of an epoch. The same on all ranks, whose
        epochs have the same steps.
        """
        epoch, last = self._compared.get(optimizer, (0, 0))
        if step not in DEFAULT and (epoch == self._epochs or step - last < _APART):
            return False
        self._compared[optimizer] = self._epochs, step
        return True

    def watch_epochs(self) -> None:
        """Note where a loader of the script begins."""
        begin = DataLoader.__iter__

        @functools.wraps(begin)
        def noted(loader: DataLoader[Any]) -> Any:
            self._epochs += 1
            return begin(loader)

        DataLoader.__iter__ = noted  # type: ignore[method-assign]

    def watch_end(self) -> None:
        """Note hvd.shutdown(): the other ranks' next average fails for it."""
        import horovod.torch.mpi_ops as operations

        shut_down = operations.shutdown

        @functools.wraps(shut_down)
        def shutdown() -> None:
            self._writer.event({"ended": self._steps})
            shut_down()

        operations.shutdown = shutdown

    def watch_calls(self) -> None:
        """Note each collective that has ended: a process that waits again and again is not stuck."""
        import horovod.torch.mpi_ops as operations

        wait = operations.synchronize

        @functools.wraps(wait)
        def synchronize(handle: Any) -> Any:
            result = wait(handle)
            self._writer.called()
            return result

        operations.synchronize = synchronize

    def watch_waits(self) -> None:
        """Note when Horovod's optimizer waits for averages, and whether any was under way by then."""
        from horovod.torch.optimizer import _DistributedOptimizer

        wait = _DistributedOptimizer.synchronize

        @functools.wraps(wait)
        def synchronize(optimizer: Any) -> Any:
            self._note_overlap(optimizer)
            self._writer.at(self._steps, True)
            result = wait(optimizer)
            self._writer.at(self._steps, False)  # not after an error: it was waiting when it failed
            return result

        _DistributedOptimizer.synchronize = synchronize

    def _note_overlap(self, optimizer: Any) -> None:
        if optimizer in self._overlapping:
            return
        if optimizer._handles:
            self._overlapping.add(optimizer)
        elif any(parameter.grad is not None for parameter in optimizer._requires_update):
            self._idle[optimizer] = self._idle.get(optimizer, 0) + 1
            if self._idle[optimizer] == _IDLE:
                self._writer.event({"no_overlap": type(optimizer).__name__})

    def _record(self, optimizer: Optimizer, step: int) -> None:
        """Record the state after a step of an optimizer, for the ranks that share it."""
        import horovod.torch as hvd

        if not hvd.is_initialized():
            return
        ranks = getattr(optimizer, "process_set", hvd.global_process_set).ranks
        # After hvd.join() the ranks' steps have different numbers.
        if hvd.rank() not in ranks or len(ranks) == 1 or HISTORY.counts["join"]:
            return
        from hvdkit.torch import registry
        from hvdkit.torch.sync import digests

        named = self._tensors_of(optimizer)
        try:
            table = {name: digest.hex() for name, digest in digests(named, optimizer)}
        except (RuntimeError, TypeError, ValueError):
            return  # a kind of tensor that has no bytes to read: what is watched goes on unwatched
        self._writer.event(
            {
                "state": {
                    "key": self._keys.of(optimizer, lambda: (list(ranks), _shapes(optimizer))),
                    "step": step,
                    "ranks": list(ranks),
                    "table": table,
                    "evidence": asdict(collect(named, optimizer, registry.holds(optimizer))),
                    "device": _device(optimizer),
                }
            }
        )

    def _tensors_of(self, optimizer: Optimizer) -> Named:
        """What an optimizer trains and what is frozen beside it, by name.

        All objects of the process are looked at to find the models: once for the same parameters.
        """
        from hvdkit.torch import registry
        from hvdkit.torch.sync import trained_by

        own = [id(parameter) for parameter in registry.parameters_of(optimizer)]
        known = self._named.get(optimizer)
        if known is None or known[0] != own:
            known = self._named[optimizer] = own, trained_by(optimizer)[0]
        held = {*own}
        # What another optimizer trains is that one's, or belongs to this rank alone.
        return [(name, tensor) for name, tensor in known[1] if id(tensor) in held or not tensor.requires_grad]


def _shapes(optimizer: Optimizer) -> list[list[tuple[int, ...]]]:
    return [[tuple(p.shape) for p in group["params"]] for group in optimizer.param_groups]


def _device(optimizer: Optimizer) -> str:
    """The one GPU that an optimizer's parameters are on; "" for the CPU, or several."""
    devices = {parameter.device for group in optimizer.param_groups for parameter in group["params"]}
    if len(devices) != 1:
        return ""
    (device,) = devices
    return str(torch.cuda.get_device_properties(device).uuid) if device.type == "cuda" else ""
