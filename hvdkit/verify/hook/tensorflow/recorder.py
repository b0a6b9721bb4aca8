"""Collects what happens in one process and writes a line per update of an optimizer and replica.

The watchers (watch, batches) call it; it knows nothing of how they got in. A process has one replica, that is
one rank, unless it runs a tf.distribute strategy.
"""

from __future__ import annotations

import atexit
import gc
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from hvdkit.verify.hook.ending import end_process
from hvdkit.verify.hook.settings import Settings, from_environment, launcher_rank
from hvdkit.verify.hook.stored import stored
from hvdkit.verify.hook.tensorflow.arrays import array_of, describe, digest, kept_values, of_replica
from hvdkit.verify.hook.tensorflow.optimizers import rate_of, state_of
from hvdkit.verify.records import Draw, Event, Step, Tensor, complete

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
        self.printed: list[str] = []
        self.printed_at: list[str] = []
        self.file: Path | None = None  # of the first replica
        self.counts: dict[int, int] = {}  # updates, by id of the optimizer
        self.optimizers: list[Any] = []  # kept alive, so that ids stay unique
        self.buffers: list[list[Any]] = []  # beside each optimizer's variables
        self.rates: tuple[float, ...] = ()
        self.gradients: list[Arrays] = []  # of each replica

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

    def before_update(self, optimizer: Any, pairs: Sequence[tuple[Any, Any]]) -> None:
        """An optimizer is about to apply reduced gradients. pairs: gradient, variable."""
        replicas = tf.distribute.get_strategy().num_replicas_in_sync
        variables = [variable for _, variable in pairs]
        self.rates = (rate_of(optimizer),)
        if id(optimizer) not in self.counts:
            self.optimizers.append(optimizer)
            self.counts[id(optimizer)] = 0
            self.buffers.append(_buffers_beside(variables))
            self._write(optimizer, variables, replicas)
        elif self.counts[id(optimizer)] == self.settings.steps:
            end_process(self.settings, self._ranks(replicas))
        names = _names(optimizer, variables)
        self.gradients = [
            {name: array_of(of_replica(gradient, k)) for name, (gradient, _) in zip(names, pairs)}
            for k in range(replicas)
        ]

    def after_update(self, optimizer: Any, pairs: Sequence[tuple[Any, Any]]) -> None:
        """The update is complete: end the process if it was the last."""
        replicas = tf.distribute.get_strategy().num_replicas_in_sync
        self.counts[id(optimizer)] += 1
        self._write(optimizer, [variable for _, variable in pairs], replicas)
        self.losses, self.events = [], []
        for watched in (self.writes, self.written_at, self.printed, self.printed_at):
            watched.clear()  # the lists themselves are watched
        self.seen = [Seen() for _ in self.seen]
        if all(count >= self.settings.steps for count in self.counts.values()):
            end_process(self.settings, self._ranks(replicas))

    def complete(self) -> None:
        """This process ends by itself: add what it has done since its last record."""
        if self.file is not None and self.file.stem.endswith(f"-{os.getpid()}"):
            more: dict[str, Sequence[Any]] = {
                "saved": list(stored(self.writes)),
                "writes": self.writes,
                "written_at": self.written_at,
                "printed": self.printed,
                "printed_at": self.printed_at,
            }
            complete(self.file, more)

    def _ranks(self, replicas: int) -> range:
        return range(self.rank, self.rank + replicas)

    def _write(self, optimizer: Any, variables: Sequence[Any], replicas: int) -> None:
        order = self.optimizers.index(optimizer)
        number = self.counts[id(optimizer)]
        saved = tuple(stored(self.writes)) if number else ()
        for k in range(replicas):
            parameters = dict(zip(_names(optimizer, variables), _of_replica(variables, k)))
            buffers = self.buffers[order]
            fields = {
                "parameters": parameters,
                "buffers": dict(zip(_names(optimizer, buffers), _of_replica(buffers, k))),
                "gradients": self.gradients[k] if number else {},
            }
            name = f"rank-{self.rank + k}-{os.getpid()}"
            draws = tuple(self.seen[k].draws) if number else ()
            step = Step(
                optimizer=order,
                number=number,
                rates=self.rates,
                parameters=_described(fields["parameters"]),
                buffers=_described(fields["buffers"]),
                gradients=_described(fields["gradients"]),
                # What led to the first step belongs to its record, not to the one of the start.
                losses=tuple(self.losses) if number else (),
                draws=draws,
                batches=tuple(self.seen[k].batches) if number else (),
                loader=draws[-1].loader if draws else -1,
                epoch=draws[-1].epoch if draws else -1,
                events=tuple(self.events) if number else (),
                state=_state(optimizer, variables, k),
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
            self.file = self.file or path


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
    return [array_of(of_replica(v.value if hasattr(v, "path") else v, k)) for v in variables]


def _buffers_beside(variables: Sequence[Any]) -> list[Any]:
    """What the models that hold these variables do not train: statistics of normalizations, frozen layers."""
    trained = {id(variable) for variable in variables}
    found: dict[int, Any] = {}
    for model in (o for o in gc.get_objects() if issubclass(type(o), tf.keras.Model)):
        # In Keras 3 the variables of the framework are inside those of Keras.
        inside = {id(v.value if hasattr(v, "path") else v) for v in model.weights}
        if inside & trained:
            found.update({id(v): v for v in model.non_trainable_weights})
    return [variable for key, variable in found.items() if key not in trained]


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
