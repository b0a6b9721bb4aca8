"""What a rank of a job leaves for its twin: what it was given and what it drew, in the order of time.

A file of pickled moments for each rank, which a process that is cut off leaves complete but for its last one.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = "twins"  # of a record of a job
# Of the record of twins, a file each: where they did not do the same; where the original takes more steps
# than the job; by what numbers the job's rates and shares of data differ from the original's; its port.
PARTED, BEYOND, SCALES, MEET = "parted", "beyond", "scales", "meet"
KEPT_BYTES = 1 << 30  # of all batches of a rank
# What pickling raises for an object that it cannot write.
UNWRITABLE = (pickle.PicklingError, AttributeError, TypeError)


@dataclass(frozen=True)
class Begun:
    """A pass over a loader begins.

    loader, epoch: as in a record. data: what the loader has, as far as it tells loaders apart. length:
    batches of the pass. samples: those of its sampler. -1: unknown.
    """

    loader: int
    epoch: int
    data: tuple[str, int]
    length: int
    samples: int
    states: dict[str, Any]


@dataclass(frozen=True)
class Fetched:
    """A pass, by its number among all, returned a batch; the states after it."""

    number: int
    batch: Any
    states: dict[str, Any]


@dataclass(frozen=True)
class Ended:
    """A pass came to its end."""

    number: int
    states: dict[str, Any]


@dataclass(frozen=True)
class Trained:
    """A batch of this pass came before a backward()."""

    number: int


@dataclass(frozen=True)
class Seeded:
    """The script seeded a library's generator."""

    library: str
    argument: Any


@dataclass(frozen=True)
class Constructed:
    """An optimizer was constructed; or, by then and before any batch, the script has seeded: the states."""

    states: dict[str, Any]
    again: bool = False


@dataclass(frozen=True)
class Backward:
    """The script called backward()."""


@dataclass(frozen=True)
class Averaged:
    """The gradients of an optimizer, by its order of construction, are complete."""

    optimizer: int


@dataclass(frozen=True)
class Stepped:
    """An optimizer took a step, at these rates; the states after it. gradients: as it used them, where the
    order of the additions in them is not known."""

    optimizer: int
    rates: tuple[float, ...]
    states: dict[str, Any]
    gradients: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Fitted:
    """Keras' fit found so many steps in an epoch; None where it goes by the end of the data."""

    steps: int | None


@dataclass(frozen=True)
class Sent:
    """The script has sent variables from one rank to all."""


@dataclass(frozen=True)
class Lost:
    """From here on the record is not complete, and why."""

    reason: str


@dataclass
class Given:
    """A pass as a rank had it."""

    begun: Begun
    batches: list[Fetched] = field(default_factory=list)
    trained: bool = False
    end: dict[str, Any] | None = None


class Writer:
    """Appends moments to the file of one rank."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / FOLDER
        self.left = KEPT_BYTES

    def put(self, rank: int, moment: object) -> None:
        """Write one; once, and for all that follow, that it cannot be kept."""
        if self.left <= 0:
            return
        try:
            written = pickle.dumps(moment)
        except UNWRITABLE as error:
            written = pickle.dumps(Lost(f"a batch cannot be pickled ({error})"))
            self.left = 0
        else:
            self.left -= len(written)
            if self.left <= 0:
                written = pickle.dumps(Lost(f"the batches are larger than {KEPT_BYTES >> 30} GiB"))
        self.folder.mkdir(exist_ok=True)
        with (self.folder / str(rank)).open("ab") as file:
            file.write(written)


class OfRank:
    """The record of one rank, read."""

    def __init__(self, folder: Path, rank: int, batches: bool = True) -> None:
        self.batches = batches  # whether they are kept
        self.passes: list[Given] = []
        self.seeds: dict[str, list[Any]] = {}
        self.steps: list[Stepped] = []
        self.constructed: list[dict[str, Any]] = []  # the states from which all goes on, by optimizer
        self.averaged: dict[int, list[int]] = {}  # by the number of backward() calls before
        self.fits: list[int | None] = []
        self.sends: set[int] = set()  # by the number of steps before
        self.lost = ""
        backwards = 0
        for moment in _moments(folder / FOLDER / str(rank)):
            if isinstance(moment, Backward):
                backwards += 1
            elif isinstance(moment, Averaged):
                done = self.averaged.setdefault(backwards, [])
                if moment.optimizer not in done:
                    done.append(moment.optimizer)
            else:
                self._add(moment)

    def _add(self, moment: object) -> None:
        if isinstance(moment, Begun):
            self.passes.append(Given(moment))
        elif isinstance(moment, Fetched) and self.batches:
            self.passes[moment.number].batches.append(moment)
        elif isinstance(moment, Ended):
            self.passes[moment.number].end = moment.states
        elif isinstance(moment, Trained):
            self.passes[moment.number].trained = True
        elif isinstance(moment, Seeded):
            self.seeds.setdefault(moment.library, []).append(moment.argument)
        elif isinstance(moment, Stepped):
            self.steps.append(moment)
        elif isinstance(moment, Fitted):
            self.fits.append(moment.steps)
        elif isinstance(moment, Sent):
            self.sends.add(len(self.steps))
        elif isinstance(moment, Constructed):
            self.constructed[len(self.constructed) - moment.again :] = [moment.states]
        elif isinstance(moment, Lost):
            self.lost = moment.reason

    @property
    def trained(self) -> list[Given]:
        """The passes that were trained on, in the order of time."""
        return [one for one in self.passes if one.trained]


def _moments(path: Path) -> Iterator[object]:
    if not path.exists():
        return
    with path.open("rb") as file:
        while file.peek(1):
            try:
                yield pickle.load(file)
            except (EOFError, pickle.UnpicklingError):
                return  # a process that was ended while it wrote
