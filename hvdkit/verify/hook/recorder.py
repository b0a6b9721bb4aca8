"""Collects what happens in one rank and writes a line per optimizer step; ends the process after the last.

The watchers (watch, loaders) call it; it knows nothing of how they got in.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from weakref import WeakSet

import torch

from hvdkit.observe.names import (
    Named,
    all_modules,
    around,
    models_of,
    named_tensors,
    optimizer_parameters,
    untrained_modules,
)
from hvdkit.observe.records import DEVICE, RATES, Collective, Draw, Event, Pool, Probe, Saved, Step, Tensor
from hvdkit.verify.hook.ending import end_process, mark_end
from hvdkit.verify.hook.extent import Extent
from hvdkit.verify.hook.loaded import note_loaded
from hvdkit.verify.hook.own import OwnGradients
from hvdkit.verify.hook.places import place_of, started_in
from hvdkit.verify.hook.probe import probe
from hvdkit.verify.hook.samples import Bases
from hvdkit.verify.hook.settings import Settings, from_environment, launcher_rank
from hvdkit.verify.hook.stored import stored
from hvdkit.verify.hook.tensors import describe, fingerprint, kept_values
from hvdkit.verify.hook.texts import keep_texts

PENDING = (
    *("losses", "factors", "draws", "batches", "contents", "pools", "probes", "inputs"),
    *("events", "writes", "written_at", "saved", "collectives", "printed", "printed_at"),
)
_recorder: Recorder | None = None


def process_rank() -> int:
    """The rank of this process, asked when the script has set itself up.

    Horovod's launchers are believed before the script: one that never initialises Horovod thinks that it
    is alone. Otherwise torch.distributed knows, also in processes that the script started itself.
    """
    started_by_horovod = any(name in os.environ for name in ("HOROVOD_RANK", "OMPI_COMM_WORLD_RANK"))
    if not started_by_horovod and torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank()
    return launcher_rank() or 0


class Recorder:
    """The record of one process; created at `import torch`, silent until an optimizer steps."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.extent = Extent(settings)
        self.counts: dict[int, int] = {}  # steps taken, by id of the optimizer
        self.optimizers: list[torch.optim.Optimizer] = []  # kept alive, so that ids stay unique
        self.made: WeakSet[torch.optim.Optimizer] = WeakSet()  # every optimizer, from the start of its life
        self.made_at: dict[int, str] = {}  # the first one's place, by its first parameter
        self.models: list[Named] = []
        self.untrained: list[Named] = []  # beside each optimizer's models
        self.gradients: tuple[Tensor, ...] = ()
        self.gradient_values: dict[str, torch.Tensor] = {}
        self.own = OwnGradients(settings.own)
        self.losses: list[float] = []
        self.factors: list[float] = []
        self.draws: list[Draw] = []
        self.batches: list[str] = []
        self.contents: list[Draw] = []
        self.bases = Bases()
        self.pools: list[Pool] = []
        self.pools_made: list[Pool] = []  # of the whole run
        self.probes: list[Probe] = []
        self.loader, self.epoch = -1, -1  # that gave the last batch
        self.events: list[Event] = []
        self.devices: set[str] = set()
        self.writes: list[str] = []
        self.written_at: list[str] = []
        self.written: list[str] = []  # until the last record
        self.inputs: list[str] = []
        self.saved: list[Saved] = []
        self.collectives: list[Collective] = []
        self.printed: list[str] = []
        self.printed_at: list[str] = []
        self.place = ""  # of the step that is taken
        self.file: Path | None = None

    @classmethod
    def of_process(cls) -> Recorder:
        """The one recorder of this process. Raises RuntimeError outside a verified run."""
        global _recorder
        if _recorder is None:
            settings = from_environment()
            if settings is None:
                raise RuntimeError("this process is not part of a verified run")
            _recorder = cls(settings)
        return _recorder

    # -- called by the watchers -----------------------------------------------------------------

    def note_once(self, what: str, detail: str = "") -> None:
        """Something that counts once for each step, however often it happens."""
        if Event(what, detail) not in self.events:
            self.events.append(Event(what, detail))

    def hold(self, pools: Iterable[Pool]) -> None:
        """A loader is made, and holds these."""
        for pool in pools:
            self.pools.append(pool)
            self.pools_made.append(pool)

    def note_device(self, index: int) -> None:
        """A CUDA device is asked for: by its number here, which may be one of few that are visible."""
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
        name = visible[index] if any(visible) and index < len(visible) else str(index)
        if name not in self.devices:
            self.devices.add(name)
            self.events.append(Event(DEVICE, name))

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        """The script has called step(): end the run if the steps are done, note a new optimizer."""
        self.gradients, self.gradient_values = (), {}
        self.place = place_of()
        if id(optimizer) not in self.counts:
            self._meet(optimizer)
            self._write(optimizer)
        elif self.counts[id(optimizer)] == self.settings.steps:
            self._finish()

    def before_update(self, optimizer: torch.optim.Optimizer) -> None:
        """Gradients are final: reduced, unscaled, clipped."""
        if id(optimizer) not in self.counts:
            return  # a step that is part of something else, before the script's first one
        gradients = [
            (name, parameter.grad)
            for name, parameter in self._parameters(optimizer)
            if parameter.grad is not None
        ]
        self.gradients = _described(gradients)
        self.gradient_values = _kept(gradients)

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        """One step is complete."""
        self.counts[id(optimizer)] += 1
        self.own.left = self.settings.own - min(self.counts.values())
        self.extent.note(self.events, self.writes, self.loader)
        last = self.extent.is_done(min(self.counts.values()))
        if last:
            self.draw_again(probe)
        self._write(optimizer)
        if last:
            self._finish()

    def draw_again(self, draw: Callable[[Bases, list[Pool]], list[Probe]]) -> None:
        """Nothing more is compared, and samples may be drawn."""
        written = list(self.writes)
        self.probes += draw(self.bases, self.pools_made)
        self.writes = written  # a data set may keep what it has read
        del self.written_at[len(written) :]

    # -- inside ---------------------------------------------------------------------------------

    def _meet(self, optimizer: torch.optim.Optimizer) -> None:
        self.own.watch(optimizer)  # what was added to it since it was made
        self.optimizers.append(optimizer)
        self.counts[id(optimizer)] = 0
        for parameter in optimizer_parameters(optimizer):
            if parameter.is_cuda:
                self.note_device(parameter.get_device())
        gc.collect()  # what is only garbage in one run may still lie about in the other
        modules = list(all_modules())
        models = models_of(optimizer, modules)
        self.models.append(named_tensors(models) + around(models, modules))
        trained = {id(tensor) for made in self.made for tensor in optimizer_parameters(made)}
        self.untrained.append(
            named_tensors(untrained_modules(trained, models, modules), always_prefixed=True)
        )

    def _parameters(self, optimizer: torch.optim.Optimizer) -> list[tuple[str, torch.Tensor]]:
        """Name and tensor, in the optimizer's order."""
        named = self.models[self.optimizers.index(optimizer)].parameters
        names = {id(tensor): name for name, tensor in named}
        return [
            (names.get(id(parameter), f"parameter {place}"), parameter)
            for place, parameter in enumerate(optimizer_parameters(optimizer))
        ]

    def _made_at(self, optimizer: torch.optim.Optimizer) -> str:
        """Where it was constructed, or what it is made of."""
        return next((self.made_at.get(id(first), "") for first in optimizer_parameters(optimizer)[:1]), "")

    def _write(self, optimizer: torch.optim.Optimizer) -> None:
        order = self.optimizers.index(optimizer)
        number = self.counts[id(optimizer)]
        if number:
            self.saved += stored(self.writes)
        parameters = self._parameters(optimizer)
        trained = {id(tensor) for _, tensor in parameters}
        frozen = [
            (name, tensor) for name, tensor in self.models[order].parameters if id(tensor) not in trained
        ]
        fields: dict[str, Any] = {
            "parameters": parameters,
            "frozen": frozen,
            "buffers": self.models[order].buffers,
            "untrained": self.untrained[order].parameters,
            "untrained_buffers": self.untrained[order].buffers,
        }
        if self.file is None:
            self.file = self.settings.path / f"rank-{process_rank()}-{os.getpid()}.jsonl"
            mark_end(self.settings, process_rank(), lambda: sum(self.counts.values()))
            note_loaded(self.settings)
        values = f"values/{self.file.stem}-{order}-{number}.pt"
        described: dict[str, Any] = {name: _described(tensors) for name, tensors in fields.items()}
        state = (
            record
            for name, parameter in parameters
            for kind, value in optimizer.state.get(parameter, {}).items()
            for record in fingerprint(f"{kind} of {name}", value)
        )
        step = Step(
            optimizer=order,
            number=number,
            rates=tuple(float(group.get("lr", 0.0)) for group in optimizer.param_groups),
            gradients=self.gradients,
            **described,
            state=tuple(state),
            settings=tuple(_settings(optimizer)),
            place=self.place if number else self._made_at(optimizer),
            loader=self.loader if number else -1,
            epoch=self.epoch if number else -1,
            # What led to the first step belongs to its record, not to the one of the start.
            **({name: tuple(getattr(self, name)) for name in PENDING} if number else {}),
            values=values,
        )
        kept = {name: _kept(tensors) for name, tensors in fields.items()}
        kept["gradients"] = self.gradient_values
        if number:
            kept["own"], kept["reduced"] = self.own.take(parameters)
        (self.settings.path / "values").mkdir(exist_ok=True)
        torch.save(kept, self.settings.path / values)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(step.to_line() + "\n")
        if number:
            self.written += self.writes
            for name in PENDING:
                getattr(self, name).clear()

    def keep_texts(self) -> None:
        """The process ends: what is in the text files that it has written."""
        keep_texts(self.settings.path, process_rank(), started_in(), (*self.written, *self.writes))

    def _finish(self) -> None:
        self.keep_texts()
        end_process(self.settings, [process_rank()])


def _settings(optimizer: torch.optim.Optimizer) -> Iterator[Tensor]:
    """Of each group, but for its rates, which are compared by themselves."""
    for place, group in enumerate(optimizer.param_groups):
        for name, value in group.items():
            if name not in ("params", *RATES):
                yield from fingerprint(f"{name} of group {place}", value)


def _described(tensors: Iterable[tuple[str, torch.Tensor]]) -> tuple[Tensor, ...]:
    return tuple(describe(name, tensor) for name, tensor in tensors)


def _kept(tensors: Iterable[tuple[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    return {name: kept_values(tensor) for name, tensor in tensors}
