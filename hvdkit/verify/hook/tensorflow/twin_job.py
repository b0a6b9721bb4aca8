"""Keeps, in each rank of a job, what a twin of the original needs: see hook.twin_job for torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from hvdkit.observe.tensorflow.arrays import array_of
from hvdkit.verify.hook.tensorflow.twin_states import states
from hvdkit.verify.hook.twin_record import (
    Begun,
    Ended,
    Fetched,
    Fitted,
    Sent,
    Stepped,
    Trained,
    Writer,
)

Pairs = Sequence[tuple[Any, Any]]  # gradient, variable


class Kept:
    """The record of this process for its twin."""

    def __init__(self, writer: Writer, rank: int, world: int) -> None:
        self.writer, self.rank, self.world = writer, rank, world
        self.passes = 0
        self.fetched: dict[int, int] = {}  # batches since the last gradient, by pass
        self.last = -1  # the pass that gave the last batch
        self.trained: set[int] = set()
        self.gradients = 0  # since the last update

    def put(self, moment: object) -> None:
        """Write one moment."""
        self.writer.put(self.rank, moment)

    def begin(self, loader: int, epoch: int, length: int) -> int:
        """A pass over a data set is about to begin; gives its number. length: in batches; -1: unknown."""
        self.put(Begun(loader, epoch, ("", -1), length, -1, states()))
        self.passes += 1
        return self.passes - 1

    def fetch(self, number: int, batch: Sequence[Any], evaluates: bool) -> None:
        """A pass has returned a batch, as flat tensors. evaluates: inside a method of Keras that does not
        train."""
        packed = tuple(tf.io.serialize_tensor(part).numpy() for part in batch)
        self.put(Fetched(number, packed, states()))
        if not evaluates:
            self.fetched[number] = self.fetched.get(number, 0) + 1
            self.last = number

    def end(self, number: int) -> None:
        """A pass has ended."""
        self.put(Ended(number, states()))
        self.fetched.pop(number, None)

    def gradient(self) -> None:
        """The script has taken the gradient of variables."""
        for number, batches in self.fetched.items():
            # Several batches and no gradient between them are an evaluation that was left early.
            if number not in self.trained and (batches == 1 or number == self.last):
                self.trained.add(number)
                self.put(Trained(number))
        self.fetched.clear()
        self.gradients += 1

    def step(self, order: int, rate: float, pairs: Pairs) -> None:
        """An update is complete. order: of the optimizer."""
        rounds = (
            self.world > 2 or self.gradients > 1 or any(isinstance(g, tf.IndexedSlices) for g, _ in pairs)
        )
        used = tuple(array_of(gradient) for gradient, _ in pairs) if rounds else ()
        self.gradients = 0
        self.put(Stepped(order, (rate,), states(), used))

    def send(self) -> None:
        """The script has sent variables."""
        self.put(Sent())

    def steps_of_fit(self, steps: int | None) -> int | None:
        """Keras' fit has found so many steps in an epoch, and goes by them."""
        self.put(Fitted(steps))
        return steps
