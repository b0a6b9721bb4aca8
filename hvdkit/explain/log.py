"""A job's output as lines by rank, whatever the launcher wrote in front of them. Decides nothing."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from hvdkit.explain.marks import plain

# horovodrun under Gloo writes "[1]<stderr>:", mpirun --tag-output "[1,0]<stderr>:"; -prefix-timestamp a time.
_TAG = re.compile(
    r"(?:\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})?\[(?:\d+,)?(\d{1,9})\]<(?:stdout|stderr|stddiag)>:"
)
# `hvdkit run` writes "[1] " in front of each line of a rank, and "hvdkit: " in front of its own.
_OWN_TAG = re.compile(r"^\[(\d{1,9})\] ?")
_OWN_WORDS = re.compile(r"^hvdkit(?: run)?: ", re.MULTILINE)
# PyTorch writes "[rank1]: " in front of each line of an uncaught error, where its process group exists.
_TORCH_MARK = re.compile(r"^\[rank\d{1,9}\]: ?")
_BEGINS = "Traceback (most recent call last)"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_FRAME = re.compile(r'^ +File "(?P<file>[^"]+)", line (?P<line>\d+)')
_CHAINED = ("During handling of the above exception", "The above exception was the direct cause")
# TensorFlow tells where the graph was made first, and below that what went wrong.
_GRAPH = "Graph execution error:"
# Files that a person did not write, whoever installed them.
INSTALLED = re.compile(r"/(site|dist)-packages/|/lib/python[\d.]*/|^<frozen|/bin/horovodrun$|<string>")


@dataclass(frozen=True)
class Line:
    """One line. number: in the file, from 1. rank: None where the launcher itself speaks."""

    number: int
    rank: int | None
    text: str


@dataclass(frozen=True)
class Traceback:
    """One Python traceback. number: of its last line. error: that line. place: `FILE:LINE` in a file of the
    script's author, "" where no frame is. files: of all frames."""

    rank: int | None
    number: int
    error: str
    place: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class Hit:
    """Where a pattern was found, and its named groups; the line is that of the group `said`, if any."""

    line: Line
    groups: dict[str, str]


@dataclass(frozen=True)
class Stream:
    """The lines of one rank as one text, so that a pattern may span lines that others' lines interrupt."""

    lines: tuple[Line, ...]

    @cached_property
    def text(self) -> str:
        """All lines, joined."""
        return "\n".join(line.text for line in self.lines)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(line.text) + 1 for line in self.lines)]

    def search(self, pattern: re.Pattern[str]) -> Hit | None:
        """The first place where `pattern` is found."""
        found = pattern.search(self.text)
        return found and self._hit(found)

    def all(self, pattern: re.Pattern[str]) -> Iterator[Hit]:
        """Every place where `pattern` is found."""
        return map(self._hit, pattern.finditer(self.text))

    def _hit(self, found: re.Match[str]) -> Hit:
        quoted = "said" if "said" in found.re.groupindex and found["said"] else 0
        line = self.lines[bisect_right(self._starts, found.start(quoted)) - 1]
        return Hit(line, {name: value or "" for name, value in found.groupdict().items()})


@dataclass(frozen=True)
class Log:
    """A whole output."""

    lines: tuple[Line, ...]

    @cached_property
    def streams(self) -> dict[int | None, Stream]:
        """Each rank's lines; under None what no rank wrote."""
        by_rank: dict[int | None, list[Line]] = {}
        for line in self.lines:
            by_rank.setdefault(line.rank, []).append(line)
        return {rank: Stream(tuple(lines)) for rank, lines in by_rank.items()}

    def search(self, pattern: re.Pattern[str]) -> Hit | None:
        """The first place in the file where `pattern` is found."""
        hits = [hit for stream in self.streams.values() for hit in [stream.search(pattern)] if hit]
        return min(hits, key=lambda hit: hit.line.number, default=None)

    def all(self, pattern: re.Pattern[str]) -> list[Hit]:
        """Every place where `pattern` is found, in the order of the file."""
        hits = [hit for stream in self.streams.values() for hit in stream.all(pattern)]
        return sorted(hits, key=lambda hit: hit.line.number)

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that wrote something."""
        return tuple(sorted(rank for rank in self.streams if rank is not None))

    @cached_property
    def is_job(self) -> bool:
        """Whether a launcher of Horovod's jobs wrote this, or Horovod itself speaks in it."""
        return bool(self.ranks) or self.search(_JOB) is not None

    @cached_property
    def tracebacks(self) -> tuple[Traceback, ...]:
        """The last of each chain of Python tracebacks, in the order in which they ended."""
        found = [traceback for stream in self.streams.values() for traceback in _tracebacks(stream)]
        return tuple(sorted(found, key=lambda traceback: traceback.number))


_JOB = re.compile(
    r"^hvdkit(?: run)?: |\b[Hh]orovod|HOROVOD_|\bhvd\.|gloo::|/gloo/"
    r"|\b(?:mpirun|mpiexec|prterun|orted|prted|ORTE|PRTE|OMPI|Open MPI|MPI processes|MPI_Init|NCCL)\b"
    r"|PMI2?_Init|MPI_INIT|\b(?:ompi|orte|prte)_\w+|^(?:srun|slurmstepd): |\*\*\* Process received signal"
    r"|^\[[\w.-]+:\d+:\d+(?::\d+)?\] Caught signal \d+ \("
    r"|mca_btl|btl_tcp|MPIJob|mpi-operator|/etc/mpi/"
    r"|^Checking ssh on all remote hosts|^ssh not successful for host "
    r"|A process or daemon was unable to complete a TCP connection"
    # The MPI Operator's names of pods, and names that Horovod alone has.
    r"|\b(?P<job>[\w-]+)-worker-\d+\.(?P=job)-worker\b|\bbroadcast_(?:optimizer_state|global_variables)\b",
    re.MULTILINE,
)


def parse(text: str) -> Log:
    """The lines of an output without tags and colours.

    mpirun tags each piece that a rank writes, and other ranks' pieces come between: the end of a line in the
    file ends the last piece's line alone, and the others go on with the next piece of their rank. Any
    program may write what `hvdkit run` puts in front of a line: it counts where a job is known to speak.
    """
    text = plain(_COLOUR.sub("", text))
    by_hvdkit = not _TAG.search(text) and bool(_OWN_WORDS.search(text) or _JOB.search(text))
    tag = _OWN_TAG if by_hvdkit else _TAG
    lines: list[Line] = []
    begun: dict[int | None, str] = {}
    number = 0
    for number, raw in enumerate(text.splitlines(), 1):
        *unfinished, (rank, last) = _pieces(raw, tag)
        for other, piece in unfinished:
            begun[other] = begun.get(other, "") + piece
        lines.append(Line(number, rank, _TORCH_MARK.sub("", begun.pop(rank, "") + last)))
    lines += [Line(number, rank, piece) for rank, piece in begun.items() if piece]
    return Log(tuple(lines))


def _pieces(raw: str, tag: re.Pattern[str]) -> list[tuple[int | None, str]]:
    """(rank, text) of what stands between the tags of a line."""
    before, *tagged = tag.split(raw)
    pieces: list[tuple[int | None, str]] = [(None, before)] if before or not tagged else []
    return [*pieces, *((int(rank), text) for rank, text in zip(tagged[::2], tagged[1::2]))]


def _tracebacks(stream: Stream) -> Iterator[Traceback]:
    """The tracebacks of one rank; one that another one continues is left out."""
    found: Traceback | None = None
    files: list[str] = []
    place, inside = "", False
    for line in stream.lines:
        # A progress bar ends no line before it.
        if line.text.startswith(_BEGINS) or line.text.endswith(f"{_BEGINS}:"):
            files, place, inside = [], "", True
        elif inside and not line.text.startswith(" ") and line.text.strip():
            if found:
                yield found
            found = Traceback(line.rank, line.number, line.text.strip(), place, tuple(files))
            inside = False
        elif inside:
            frame = _FRAME.match(line.text)
            if frame:
                files.append(frame["file"])
                if not INSTALLED.search(frame["file"]):
                    place = f"{frame['file']}:{frame['line']}"
        elif line.text.startswith(_CHAINED):
            found = None
        elif found and found.error.endswith(_GRAPH) and line.text[:1].strip():
            if not line.text.startswith("Detected at node"):
                kind = found.error.removesuffix(_GRAPH)
                found = replace(found, number=line.number, error=kind + line.text.strip())
    if found:
        yield found
