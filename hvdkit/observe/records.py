"""What a run leaves behind: plain data, written by the hook in each rank and read by the comparison.

A rank writes one line of JSON per optimizer step into `rank-R-PID.jsonl` and the values it keeps into
`values/`. Nothing here imports torch.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

# Events that say how the migrated reduces: the original is run again with the same arithmetic.
FLOAT16 = "gradients in float16"
ADASUM = "Adasum"
# The sampler that draws from tf.data are told to have.
TF_DATA = "tf.data"
# A pass over a loader that was drawn to its end: "LOADER EPOCH".
PASS_ENDED = "end of a pass"
# Samples at the end of a pass that a loader leaves out, as no full batch is left: "LOADER COUNT".
LEAVES_OUT = "leaves out"
# A loader, by its number, has a sampler that shuffles anew only where set_epoch is called.
SETS_EPOCH = "sampler with set_epoch"
# A loader, by its number, is the Nth that was made: "LOADER MADE".
MADE = "loader"
# A loader was given the part of a split that the other run's has: how many samples, and of what.
SPLIT = "split taken"
# A CUDA device that a rank asked for, by its number on the host.
DEVICE = "device"
# Keras' fit is given the number of steps in an epoch.
STEPS_OF_EPOCH = "steps of an epoch"
# A callback decides by a metric: "CALLBACK METRIC EPOCH VALUE".
DECIDES = "decides by"
# Gradients were clipped: their norm before it.
CLIPPED = "clipped"
# A model is set to evaluate; a file is loaded; a pass over a loader has a length: "LOADER BATCHES".
EVALUATION = "evaluation"
RESUME = "torch.load"
PASS_LENGTH = "length of a pass"
# A model is wrapped in DistributedDataParallel, which averages its gradients.
DDP = "DistributedDataParallel"
# Of one that gives every rank rank 0's buffers before each forward().
SENDS_BUFFERS = "DDP sends buffers"
# Parameters that Horovod's optimizer no longer hears of: how many of them.
HOOKS_LOST = "moved after wrapping"
_WAIT = "synchronize() first, then step() under optimizer.skip_synchronize()"
# Calls that are wrong whatever numbers come out, each with its rule and what it does.
WRONG_ORDER = {
    "clip before synchronize": (
        "HVD404",
        f"gradients are clipped while Horovod still reduces them: call optimizer.{_WAIT}",
    ),
    "unscale before synchronize": (
        "HVD404",
        f"gradients are unscaled while Horovod still reduces them: call optimizer.{_WAIT}",
    ),
    HOOKS_LOST: (
        "HVD401",
        "the model was moved or converted after the optimizer was wrapped, which loses the hooks that reduce "
        "its gradients during backward(): .cuda(), .to() or .double() first, then hvd.DistributedOptimizer",
    ),
}
# More steps than any script takes: a run goes on to its natural end.
TO_END = 1 << 53
# A result of Adasum that is further from the closed form than rounding explains.
ADASUM_OFF = "Adasum off"

# What torch calls rates, in the groups of an optimizer and in the state of a scheduler.
RATES = ("lr", "initial_lr", "max_lr", "min_lr", "base_lrs", "_last_lr", "min_lrs", "max_lrs", "eta_min")
# The loader of contents that no loader returned: rows of what a model is given.
GIVEN_ROWS = -1
# A pass over a loader begins: "LOADER EPOCH PLACE".
PASS_AT = "pass begins"
# A twin was given a batch that its rank of the job had.
GIVEN = "given"
# A scheduler is given a number to decide by: "NUMBER PLACE".
PLATEAU = "ReduceLROnPlateau"
# A twin stepped with its rank's gradients: its own differ from them as the order of additions explains, by a
# number, relative to them. ROUNDING: what that is at most.
ROUNDED = "order of additions"
ROUNDING = 1e-6
# A rate that an optimizer has when the script ends.
RATE_LEFT = "rate at the end"

TENSOR_FIELDS = (
    *("parameters", "gradients", "frozen", "buffers", "untrained", "untrained_buffers", "state"),
    "settings",
)
PLAIN_FIELDS = (
    *("rates", "losses", "factors", "batches", "inputs"),
    *("writes", "written_at", "printed", "printed_at"),
)


@dataclass(frozen=True)
class Tensor:
    """One tensor at one moment. digest: SHA-256 of its bytes. norm: Euclidean, in float64."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    digest: str
    norm: float


@dataclass(frozen=True)
class Draw:
    """Indices that a sampler gave for one batch. loader: order of first use. epoch: passes begun, from 0.
    sampler: its class. samples: "DATA SET:INDEX" of each where the index does not tell samples apart."""

    loader: int
    epoch: int
    indices: tuple[Any, ...]
    sampler: str = ""
    samples: tuple[str, ...] = ()

    @property
    def drawn(self) -> tuple[Any, ...]:
        """What the samples are."""
        return self.samples or self.indices


@dataclass(frozen=True)
class Pool:
    """The samples of one data set that a loader can draw. made: order in which loaders were made, from 0.
    data: which set: class, length and a number. bits: a bit for each sample, compressed."""

    made: int
    data: str
    bits: str

    @classmethod
    def of(cls, made: int, data: str, places: Iterable[int]) -> Pool:
        """From places in the data set."""
        held = set(places)
        raw = bytearray(max(held, default=0) // 8 + 1)
        for place in held:
            raw[place // 8] |= 1 << place % 8
        return cls(made, data, base64.b64encode(zlib.compress(bytes(raw), 1)).decode())

    @property
    def mask(self) -> int:
        """Bit N is set for sample N."""
        return int.from_bytes(zlib.decompress(base64.b64decode(self.bits)), "little")


@dataclass(frozen=True)
class Probe:
    """One sample, drawn again after the last step. data, index: its data set and place in that.
    digest: of its content; "" where two draws differ."""

    data: str
    index: int
    digest: str


@dataclass(frozen=True)
class Saved:
    """What was saved as a file: its tensors and single values, by the path of keys to each, without norms.
    place: file and line in the work folder."""

    file: str
    tensors: tuple[Tensor, ...]
    place: str = ""


@dataclass(frozen=True)
class Event:
    """Something worth telling that happened before a step: what, and the detail to print."""

    what: str
    detail: str = ""


@dataclass(frozen=True)
class Collective:
    """A collective call of the script's own. kind: allreduce, allgather, broadcast, reducescatter,
    alltoall. norm: Euclidean, of all that this rank got from it; NaN where that was not seen. place: file and
    line in the work folder. held: what it gave is a parameter's, or its gradient, and is compared itself."""

    kind: str
    norm: float
    place: str = ""
    held: bool = False


@dataclass(frozen=True)
class Step:
    """The state of one rank after a step of one optimizer; number 0 is the state before its first step.

    optimizer: order of first step. losses: values on which backward() was called since the last record.
    factors: the numbers that each of them was multiplied by last. printed: lines of stdout and stderr;
    printed_at: the place of each.
    batches: digests of the batches that loaders returned since then, and contents of the samples in each, in
    the form of a draw. pools: loaders made since then. loader, epoch: those of the last
    batch of them all, in the numbers of draws; -1 for none. writes: files opened for writing since
    then, relative to the work folder where they are in it; written_at: the place of each; saved: what was
    put into them. place: of the call of step(), at the start where the optimizer is made. settings: of each
    group, but for its rates. inputs: digests of what models were given to train on since then.
    gradients: as the update saw them, that is after the reduction. frozen: the model's parameters outside
    this optimizer. untrained: those of modules that no optimizer holds anything of (a running average of
    the weights, a teacher). state: the optimizer's, by kind and parameter, without norms. values: file
    with the values that were kept of each tensor, by field name and tensor name.
    """

    optimizer: int
    number: int
    rates: tuple[float, ...]
    parameters: tuple[Tensor, ...]
    gradients: tuple[Tensor, ...] = ()
    frozen: tuple[Tensor, ...] = ()
    buffers: tuple[Tensor, ...] = ()
    untrained: tuple[Tensor, ...] = ()
    untrained_buffers: tuple[Tensor, ...] = ()
    state: tuple[Tensor, ...] = ()
    settings: tuple[Tensor, ...] = ()
    place: str = ""
    inputs: tuple[str, ...] = ()
    losses: tuple[float, ...] = ()
    factors: tuple[float, ...] = ()
    draws: tuple[Draw, ...] = ()
    batches: tuple[str, ...] = ()
    contents: tuple[Draw, ...] = ()
    pools: tuple[Pool, ...] = ()
    probes: tuple[Probe, ...] = ()
    loader: int = -1
    epoch: int = -1
    events: tuple[Event, ...] = ()
    writes: tuple[str, ...] = ()
    written_at: tuple[str, ...] = ()
    saved: tuple[Saved, ...] = ()
    collectives: tuple[Collective, ...] = ()
    printed: tuple[str, ...] = ()
    printed_at: tuple[str, ...] = ()
    values: str = ""

    def to_line(self) -> str:
        """One line of JSON."""
        return json.dumps(self, default=vars)  # a step has thousands of parts: asdict() copies each

    @classmethod
    def from_line(cls, line: str) -> Step:
        """The inverse of `to_line`."""
        raw = json.loads(line)
        for key in TENSOR_FIELDS:
            raw[key] = _tensors(raw[key])
        raw["saved"] = tuple(
            Saved(item["file"], _tensors(item["tensors"]), item["place"]) for item in raw["saved"]
        )
        for key in ("draws", "contents"):
            raw[key] = tuple(
                Draw(**{**d, "indices": tuple(d["indices"]), "samples": tuple(d["samples"])})
                for d in raw[key]
            )
        raw["pools"] = tuple(Pool(**item) for item in raw["pools"])
        raw["probes"] = tuple(Probe(**item) for item in raw["probes"])
        raw["events"] = tuple(Event(**item) for item in raw["events"])
        raw["collectives"] = tuple(Collective(**item) for item in raw["collectives"])
        for key in PLAIN_FIELDS:
            raw[key] = tuple(raw[key])
        return cls(**raw)


def _tensors(raw: list[dict[str, Any]]) -> tuple[Tensor, ...]:
    return tuple(Tensor(**{**item, "shape": tuple(item["shape"])}) for item in raw)


@dataclass(frozen=True)
class Run:
    """All ranks of one run. steps[rank] is in the order of time."""

    folder: Path
    steps: dict[int, tuple[Step, ...]] = field(default_factory=dict)

    @property
    def world(self) -> int:
        """How many ranks took a step."""
        return len(self.steps)

    def taken(self, rank: int) -> int:
        """Steps that this rank took, of all optimizers together."""
        return sum(step.number > 0 for step in self.steps[rank])


def complete(file: Path, more: Mapping[str, Sequence[Any]]) -> None:
    """Add to fields of the last step in a rank's file. more: what came after it, by field."""
    if not any(more.values()):
        return
    *lines, line = file.read_text(encoding="utf-8").splitlines(keepends=True)
    last = Step.from_line(line)
    fields: dict[str, Any] = {name: (*getattr(last, name), *value) for name, value in more.items()}
    whole = file.with_suffix(".ended")
    whole.write_text("".join(lines) + replace(last, **fields).to_line() + "\n", encoding="utf-8")
    whole.replace(file)


class RecordError(Exception):
    """Two processes of one run recorded as the same rank."""


def read_run(folder: Path) -> Run:
    """Read what the ranks of a run wrote. Raises RecordError when a rank appears twice."""
    steps: dict[int, tuple[Step, ...]] = {}
    for path in sorted(folder.glob("rank-*.jsonl")):
        rank = int(path.name.split("-")[1])
        if rank in steps:
            raise RecordError(f"two processes took part as rank {rank}")
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        # A rank that was killed may have left half a line.
        steps[rank] = tuple(Step.from_line(line) for line in lines if line.endswith("\n"))
    return Run(folder, dict(sorted(steps.items())))
