"""Collects what happens in one process and writes a line per update of an optimizer and replica.

The watchers (watch, batches) call it; it knows nothing of how they got in. A process has one replica, that is
one rank, unless it runs a tf.distribute strategy.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from hvdkit.observe.records import Draw, Event, Saved, Step, Tensor, complete
from hvdkit.observe.tensorflow.arrays import array_of, describe, digest, kept_values, of_replica
from hvdkit.observe.tensorflow.optimizers import settings_of, state_of
from hvdkit.verify.hook.ending import end_process, mark_end
from hvdkit.verify.hook.extent import Extent
from hvdkit.verify.hook.places import place_of, started_in
from hvdkit.verify.hook.settings import Settings, from_environment, launcher_rank
from hvdkit.verify.hook.stored import stored
from hvdkit.verify.hook.tensorflow.twin_job import Kept
from hvdkit.verify.hook.tensorflow.twin_replay import Replay
from hvdkit.verify.hook.tensorflow.variables import Beside, beside, native
from hvdkit.verify.hook.texts import keep_texts
from hvdkit.verify.hook.twin_record import Writer

Arrays = dict[str, "np.ndarray[Any, Any]"]
_recorder: Recorder | None = None


class Seen:
    """What a replica drew since its last record."""

    def __init__(self) -> None:
        self.draws: list[Draw] = []
        self.batches: list[str] = []

    def forget(self, loader: int) -> None:
        """Drop what was drawn from a loader."""
        kept = [pair for pair in zip(self.draws, self.batches) if pair[0].loader != loader]
        self.draws[:], self.batches[:] = [draw for draw, _ in kept], [batch for _, batch in kept]


class Recorder:
    """The record of one process; created at `import tensorflow`, silent until an optimizer updates."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.rank = launcher_rank() or 0  # of the first replica
        self.seen = [Seen() for _ in range(settings.replicas)]
        self.losses: list[float] = []
        self.events: list[Event] = []
        self.writes: list[str] = []
        self.written_at: list[str] = []
        self.saved: list[Saved] = []
        self.printed: list[str] = []
        self.printed_at: list[str] = []
        self.file: Path | None = None  # of the first replica
        self.counts: dict[int, int] = {}  # updates, by id of the optimizer
        self.optimizers: list[Any] = []  # kept alive, so that ids stay unique
        self.beside: list[Beside] = []  # each optimizer's variables
        self.loose: dict[int, np.ndarray[Any, Any]] | None = None  # by id, before the first gradient
        self.rates: tuple[float, ...] = ()
        self.gradients: list[Arrays] = []  # of each replica
        self.extent = Extent(settings)
        self.evaluates = 0  # methods of Keras that do not train and are running
        self.fits = False  # fit has been called, and has not found its steps yet
        self.written: list[str] = []  # until the last record
        self.place = ""  # of the update
        self.kept = Kept(Writer(settings.path), self.rank, settings.world) if settings.twinned else None
        self.twin = Replay(settings) if settings.twins else None

    @classmethod
    def of_process(cls) -> Recorder:
        """The one recorder of this process. Raises RuntimeError outside a verified run."""
        global _recorder
        if _recorder is None:
            settings = from_environment()
            if settings is None:
                raise RuntimeError("this process is not part of a verified run")
            _recorder = cls(settings)
            atexit.register(_recorder.complete)
        return _recorder

    @property
    def taken(self) -> int:
        """Updates of all optimizers together."""
        return sum(self.counts.values())

    def note_once(self, what: str, detail: str = "") -> None:
        """Something that counts once for each step, however often it happens."""
        if Event(what, detail) not in self.events:
            self.events.append(Event(what, detail))

    def before_gradient(self) -> None:
        """The script takes the gradient of variables: nothing is added up before the first."""
        if self.loose is None:
            self.loose = {id(variable): array_of(variable) for variable in beside((), ()).loose}

    def order_of(self, optimizer: Any) -> int:
        """The place of an optimizer by its first update, which may be the one to come."""
        return self.optimizers.index(optimizer) if id(optimizer) in self.counts else len(self.optimizers)

    def before_update(self, optimizer: Any, pairs: Sequence[tuple[Any, Any]], rate: float) -> None:
        """An optimizer is about to apply reduced gradients at a rate. pairs: gradient, variable."""
        replicas = tf.distribute.get_strategy().num_replicas_in_sync
        variables = [variable for _, variable in pairs]
        self.rates = (rate,)
        self.place = place_of()
        if id(optimizer) not in self.counts:
            self.optimizers.append(optimizer)
            self.counts[id(optimizer)] = 0
            self.beside.append(beside(variables, self.optimizers))
            self._write(optimizer, variables, replicas)
        elif self.counts[id(optimizer)] == self.settings.steps:
            self._finish(replicas)
        names = _names(optimizer, variables)
        self.gradients = [
            {name: array_of(of_replica(gradient, k)) for name, (gradient, _) in zip(names, pairs)}
            for k in range(replicas)
        ]

    def after_update(self, optimizer: Any, pairs: Sequence[tuple[Any, Any]]) -> None:
        """The update is complete: end the process if it was the last."""
        replicas = tf.distribute.get_strategy().num_replicas_in_sync
        self.counts[id(optimizer)] += 1
        draws = self.seen[0].draws
        self.extent.note(self.events, self.writes, draws[-1].loader if draws else -1)
        self._write(optimizer, [variable for _, variable in pairs], replicas)
        self.written += self.writes
        self.losses, self.events = [], []
        for watched in (self.writes, self.written_at, self.saved, self.printed, self.printed_at):
            watched.clear()  # the lists themselves are watched
        self.seen = [Seen() for _ in self.seen]
        if self.extent.is_done(min(self.counts.values())):
            self._finish(replicas)

    def complete(self) -> None:
        """This process ends by itself: add what it has done since its last record."""
        if self.file is not None and self.file.stem.endswith(f"-{os.getpid()}"):
            more: dict[str, Sequence[Any]] = {
                "events": self.events,
                "saved": [*self.saved, *stored(self.writes)],
                "writes": self.writes,
                "written_at": self.written_at,
                "printed": self.printed,
                "printed_at": self.printed_at,
            }
            complete(self.file, more)
            self._keep_texts()

    def _keep_texts(self) -> None:
        keep_texts(self.settings.path, self.rank, started_in(), (*self.written, *self.writes))

    def _finish(self, replicas: int) -> None:
        self._keep_texts()
        end_process(self.settings, range(self.rank, self.rank + replicas))

    def _write(self, optimizer: Any, variables: Sequence[Any], replicas: int) -> None:
        order = self.optimizers.index(optimizer)
        number = self.counts[id(optimizer)]
        saved = (*self.saved, *stored(self.writes)) if number else ()
        for k in range(replicas):
            fields = self._fields(order, variables, k)
            name = f"rank-{self.rank + k}-{os.getpid()}"
            draws = tuple(self.seen[k].draws) if number else ()
            step = Step(
                optimizer=order,
                number=number,
                rates=self.rates,
                **{field: _described(arrays) for field, arrays in fields.items()},  # type: ignore[arg-type]
                # What led to the first step belongs to its record, not to the one of the start.
                losses=tuple(self.losses) if number else (),
                draws=draws,
                batches=tuple(self.seen[k].batches) if number else (),
                loader=draws[-1].loader if draws else -1,
                epoch=draws[-1].epoch if draws else -1,
                events=tuple(self.events) if number else (),
                state=_state(optimizer, variables, k),
                settings=settings_of(optimizer),
                place=self.place,
                writes=tuple(self.writes) if number and k == 0 else (),
                written_at=tuple(self.written_at) if number and k == 0 else (),
                saved=saved if k == 0 else (),
                printed=tuple(self.printed) if number and k == 0 else (),
                printed_at=tuple(self.printed_at) if number and k == 0 else (),
                values=f"values/{name}-{order}-{number}.npz",
            )
            _save(self.settings.path / step.values, fields)
            path = self.settings.path / f"{name}.jsonl"
            with path.open("a", encoding="utf-8") as file:
                file.write(step.to_line() + "\n")
            if self.file is None:
                self.file = path
                mark_end(self.settings, self.rank, lambda: self.taken)

    def _fields(self, order: int, variables: Sequence[Any], k: int) -> dict[str, Arrays]:
        """What a replica holds, by field of the record."""
        optimizer, lives = self.optimizers[order], self.beside[order]
        number = self.counts[id(optimizer)]
        held = {
            "parameters": variables,
            "buffers": lives.buffers,
            "untrained": lives.untrained,
            "untrained_buffers": lives.untrained_buffers,
        }
        arrays = {
            field: dict(zip(_names(optimizer, held[field]), _of_replica(held[field], k))) for field in held
        }
        if not number:
            # At the start alone: later they may be a rank's own sums.
            loose = [variable for variable in lives.loose if id(variable) in (self.loose or {})]
            before = ((self.loose or {})[id(variable)] for variable in loose)
            arrays["untrained"].update(zip(_names(optimizer, loose), before))
        return {**arrays, "gradients": self.gradients[k] if number else {}}


def _names(optimizer: Any, variables: Iterable[Any]) -> list[str]:
    """The names of variables, each once; in Keras 3 with the layers they are in."""
    paths = {
        id(v.value): v.path for v in getattr(optimizer, "_trainable_variables", ()) if hasattr(v, "path")
    }
    names: list[str] = []
    for variable in variables:
        name = getattr(variable, "path", None) or paths.get(id(variable), variable.name.split(":")[0])
        names.append(name if name not in names else f"{name} ({len(names)})")
    return names


def _of_replica(variables: Iterable[Any], k: int) -> list[np.ndarray[Any, Any]]:
    return [array_of(of_replica(native(v), k)) for v in variables]


def _state(optimizer: Any, variables: Sequence[Any], k: int) -> tuple[Tensor, ...]:
    """The variables of an optimizer that are not trained by it: moments, averages; not its counts and rate,
    which are numbers."""
    trained = {id(variable) for variable in variables}
    state = [v for v in state_of(optimizer) if id(v) not in trained and len(v.shape)]
    arrays = zip(_names(optimizer, state), _of_replica(state, k))
    return tuple(Tensor(name, array.shape, str(array.dtype), digest([array]), 0.0) for name, array in arrays)


def _described(arrays: Arrays) -> tuple[Tensor, ...]:
    return tuple(describe(name, array) for name, array in arrays.items())


def _save(path: Path, fields: dict[str, Arrays]) -> None:
    path.parent.mkdir(exist_ok=True)
    kept = {f"{kind}/{name}": kept_values(a) for kind, arrays in fields.items() for name, a in arrays.items()}
    with path.open("wb") as file:
        np.savez(file, **kept)  # type: ignore[arg-type]
