"""Who waits for whom: what ranks have submitted and others have not, from stall warnings or from the trace.

A rank that misses a tensor which it has reduced before, in an earlier step, is held up: it waits itself,
in a call that the others do not make. Where another rank misses a tensor that it never had, that one is
what it is about.

Horovod warns on rank 0 after HOROVOD_STALL_CHECK_TIME_SECONDS (source: horovod/common/stall_inspector.cc).
Where it does not, HOROVOD_LOG_LEVEL=trace shows each tensor that a rank submits (operations.cc there).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from hvdkit.explain.log import Log

# Versions before 0.19 say it of each tensor, on one line or on several: `Stalled ops:NAME [missing ranks:
# 1, 3]`. Before 0.13.8 they listed the ranks that are there, `[ready ranks: 2, 0]`.
_OLD_ROW = re.compile(
    r"(?:[Ss]talled ops: ?)?(?<![^\s:])(?P<name>[^\s:]+) "
    r"\[(?P<state>missing|ready) ranks: (?P<ranks>[\d,\s]+)\]"
)
# Newer ones give a table, which they headed `Stalled ranks:` at first (stall_inspector.cc).
_WARNING = re.compile(r"^(?:Missing|Stalled) ranks:\s*\n(?P<table>(?:\d+!?: \[.*\]\s*\n?)+)", re.MULTILINE)
_ROW = re.compile(r"^(\d{1,9})!?: \[(.*?)(?: \.\.\.)?\]", re.MULTILINE)
_SUBMITTED = re.compile(r"\[(?P<rank>\d{1,9})\]: Enqueued (?:tensors for \w+: )?(?P<names>.*)")
_SHOWN = 3


@dataclass(frozen=True)
class Waiting:
    """line: number of the line that shows it. missing: by rank, the tensors that it has not submitted."""

    line: int
    missing: dict[int, tuple[str, ...]]

    @property
    def crossed(self) -> bool:
        """Each of two ranks waits for a tensor that the other has not: they have different names."""
        lists = [set(names) for names in self.missing.values()]
        return len(lists) > 1 and not set.intersection(*lists)

    @property
    def alike(self) -> bool:
        """Crossed, and the names differ in a number or in the collective: it is one call under two names."""
        first, *others = self.missing.values()
        return self.crossed and any(_same(first, other) for other in others)

    def names(self) -> str:
        """The tensors that are waited for, for people."""
        every = tuple(dict.fromkeys(name for names in self.missing.values() for name in names))
        return ", ".join(every[:_SHOWN]) + (", ..." if len(every) > _SHOWN else "")

    def ranks(self) -> str:
        """The ranks that have not submitted them, for people."""
        return ", ".join(map(str, sorted(self.missing)))

    def who(self) -> str:
        """The same as the beginning of a sentence."""
        return (
            f"rank {self.ranks()} never reaches"
            if len(self.missing) == 1
            else f"ranks {self.ranks()} never reach"
        )


def waiting(log: Log) -> Waiting | None:
    """What the last stall warning says; without one, what the trace says."""
    warnings = log.all(_WARNING)
    if warnings:
        rows = _ROW.findall(warnings[-1].groups["table"])
        missing = {int(rank): tuple(names.split(", ")) for rank, names in rows}
        return Waiting(warnings[0].line.number, missing)
    return _from_rows(log) or _from_trace(log)


def _from_rows(log: Log) -> Waiting | None:
    """What the warnings of old versions say. The highest rank in the log is the last one."""
    rows = [(hit, _ranks(hit.groups["ranks"])) for hit in log.all(_OLD_ROW)]
    every = set(range(max({rank for _, ranks in rows for rank in ranks} | {*log.ranks}, default=-1) + 1))
    by_rank: dict[int, dict[str, None]] = {}
    for hit, ranks in rows:
        for rank in ranks if hit.groups["state"] == "missing" else every - ranks:
            by_rank.setdefault(rank, {})[hit.groups["name"]] = None
    missing = {rank: tuple(names) for rank, names in by_rank.items()}
    return Waiting(rows[0][0].line.number, missing) if missing else None


def _ranks(listed: str) -> set[int]:
    return {int(rank) for rank in re.findall(r"\d{1,9}", listed)}


def _from_trace(log: Log) -> Waiting | None:
    submitted: dict[int, Counter[str]] = {rank: Counter() for rank in log.ranks}
    last = 0
    for hit in log.all(_SUBMITTED):
        names = [name.strip() for name in hit.groups["names"].split(";") if name.strip()]
        submitted.setdefault(int(hit.groups["rank"]), Counter()).update(names)
        last = hit.line.number
    missing = _missing(submitted)
    never = {
        rank: tuple(name for name in names if not submitted[rank][name]) for rank, names in missing.items()
    }
    if any(never.values()):
        missing = {rank: names for rank, names in never.items() if names}
    return Waiting(last, missing) if missing else None


def _missing(submitted: dict[int, Counter[str]]) -> dict[int, tuple[str, ...]]:
    """By rank, what another rank has submitted more often."""
    most = Counter[str]()
    for counts in submitted.values():
        most |= counts
    return {rank: tuple(most - counts) for rank, counts in submitted.items() if most - counts}


def _bare(name: str) -> str:
    """A tensor's name without its collective and its numbers."""
    return re.sub(
        r"\d+", "", re.sub(r"^(?:allreduce|allgather|broadcast|alltoall|Horovod[A-Z]\w*?_)\.?", "", name)
    )


def _same(names: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether two different names differ in what `_bare` leaves out: one name is what both ranks wait for."""
    pairs = [(_bare(one), _bare(other)) for one in names for other in others if one != other]
    return any(one.endswith(other) or other.endswith(one) for one, other in pairs)
