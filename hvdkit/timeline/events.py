"""Horovod's timeline as operations: who was ready when, what went over the network, and how much.

Rank 0 writes the file (`HOROVOD_TIMELINE`) in the trace event format, one process for each tensor:
NEGOTIATE_* with an instant event for each rank that is ready, then the operation, and in it its phases
(common/timeline.cc of Horovod 0.28). Where a tensor is in the response cache the ranks are left out. A job
that is ended leaves the file without its end.
"""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hvdkit.dataclass import dataclass
from hvdkit.errors import HvdkitError
from hvdkit.files import read_file

_GAP = re.compile(r"[\s,]*")
_SIZES = {"uint8": 1, "int8": 1, "bool": 1, "uint16": 2, "int16": 2, "float16": 2, "bfloat16": 2}
_SIZES.update({"int32": 4, "float32": 4, "int64": 8, "float64": 8})
_WIRE = re.compile(r"(GLOO|MPI|NCCL|CCL|DDL)_\w+|MPI_CROSS_\w+")
_HOW = "HOROVOD_TIMELINE=timeline.json, or hvdkit run --timeline timeline.json -np 2 python train.py"


class TimelineError(HvdkitError):
    """The file is no timeline of Horovod's."""


@dataclass(frozen=True)
class Operation:
    """One collective on one tensor; times in seconds from the start of the timeline.

    kind: ALLREDUCE and the like. asked: when rank 0, or the first rank, requested it. ready: when each rank
    did, as far as the timeline has it. sent, received: when the exchange of its data began and ended; both
    0.0 where there was none. size: bytes, 0 where the timeline has none.
    """

    tensor: str
    kind: str
    asked: float
    ready: dict[int, float]
    sent: float
    received: float
    end: float
    size: int


@dataclass(frozen=True)
class Timeline:
    """operations: in the order in which they ended. complete: whether the file has its end."""

    operations: tuple[Operation, ...]
    complete: bool

    @property
    def ranks(self) -> tuple[int, ...]:
        """Those that the timeline names."""
        return tuple(sorted({rank for operation in self.operations for rank in operation.ready}))


def read(path: Path) -> tuple[Timeline, str]:
    """A timeline, and the text of its file. Raises TimelineError."""
    try:
        text = read_file(path).decode("utf-8", "replace")
    except OSError as error:
        too_large = error.errno == errno.EFBIG
        raise TimelineError(
            f"cannot read {path}: {error.strerror or error}",
            fix="record a shorter part: hvd.start_timeline(FILE) and hvd.stop_timeline()"
            if too_large
            else _HOW,
        ) from error
    operations = tuple(_operations(events_of(text)))
    if not operations:
        raise TimelineError(
            f"{path} has no operation of Horovod in it",
            why="rank 0 writes it, and only while HOROVOD_TIMELINE is set for the job",
            fix=_HOW,
        )
    return Timeline(operations, text.rstrip().endswith("]")), text


def events_of(text: str) -> Iterator[dict[str, Any]]:
    """The events of a file, one by one, up to the first that is cut off or broken."""
    decoder, at = json.JSONDecoder(), _next(text, 1 if text.startswith("[") else len(text))
    while at < len(text) and text[at] == "{":
        try:
            event, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield event
        at = _next(text, at)


def _next(text: str, at: int) -> int:
    found = _GAP.match(text, at)
    return found.end() if found else at


class _Open:
    """An operation that has not ended."""

    def __init__(self, asked: float) -> None:
        self.asked = asked
        self.ready: dict[int, float] = {}
        self.kind = ""
        self.sent = self.received = 0.0
        self.phases: list[str] = []


def _operations(events: Iterator[dict[str, Any]]) -> Iterator[Operation]:
    tensors: dict[object, str] = {}
    opened: dict[object, _Open] = {}
    for event in events:
        process, what, name = event.get("pid"), event.get("ph"), str(event.get("name", ""))
        if what == "M":
            given = event.get("args")
            if name == "process_name" and isinstance(given, dict) and "name" in given:
                tensors[process] = str(given["name"])
            continue
        moment = event.get("ts")
        if process not in tensors or not isinstance(moment, (int, float)):
            continue
        at = moment / 1e6
        if what == "B" and name.startswith("NEGOTIATE_"):
            opened[process] = _Open(at)
            opened[process].phases.append(name)
            continue
        operation = opened.get(process)
        if operation is None:
            continue
        if what == "X" and name.isdecimal():
            operation.ready[int(name)] = at
        elif what == "B":
            if not operation.phases:
                operation.kind = name
            elif _WIRE.fullmatch(name) and not operation.sent:
                operation.sent = at
            operation.phases.append(name)
        elif what == "E" and operation.phases:
            ended = operation.phases.pop()
            if _WIRE.fullmatch(ended):
                operation.received = at
            if not operation.phases and operation.kind:
                del opened[process]
                yield Operation(
                    tensors[process],
                    operation.kind,
                    min([operation.asked, *operation.ready.values()]),
                    operation.ready,
                    operation.sent,
                    operation.received,
                    at,
                    _size(event.get("args")),
                )


def _size(given: object) -> int:
    """Bytes of a tensor, by its type and shape: `{"dtype": "float32", "shape": "[4, 256]"}`."""
    if not isinstance(given, dict):
        return 0
    size = _SIZES.get(str(given.get("dtype")), 0)
    for part in re.findall(r"\d+", str(given.get("shape", ""))):
        size *= int(part)
    return size
