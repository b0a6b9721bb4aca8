"""Who waits for whom: what ranks have submitted and others have not, from stall warnings or from the trace.

Horovod warns on rank 0 after HOROVOD_STALL_CHECK_TIME_SECONDS (source: horovod/common/stall_inspector.cc).
Where it does not, HOROVOD_LOG_LEVEL=trace shows each tensor that a rank submits (operations.cc there).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from hvdkit.explain.log import Log

_WARNING = re.compile(r"^Missing ranks:\s*\n(?P<table>(?:\d+!?: \[.*\]\s*\n?)+)", re.MULTILINE)
_ROW = re.compile(r"^(\d+)!?: \[(.*?)(?: \.\.\.)?\]", re.MULTILINE)
_SUBMITTED = re.compile(r"\[(?P<rank>\d+)\]: Enqueued (?P<names>.*)")
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

    def names(self) -> str:
        """The tensors that are waited for, for people."""
        every = tuple(dict.fromkeys(name for names in self.missing.values() for name in names))
        return ", ".join(every[:_SHOWN]) + (", ..." if len(every) > _SHOWN else "")

    def ranks(self) -> str:
        """The ranks that have not submitted them, for people."""
        return ", ".join(map(str, sorted(self.missing)))


def waiting(log: Log) -> Waiting | None:
    """What the last stall warning says; without one, what the trace says."""
    warnings = log.all(_WARNING)
    if warnings:
        rows = _ROW.findall(warnings[-1].groups["table"])
        missing = {int(rank): tuple(names.split(", ")) for rank, names in rows}
        return Waiting(warnings[0].line.number, missing)
    return _from_trace(log)


def _from_trace(log: Log) -> Waiting | None:
    submitted: dict[int, Counter[str]] = {rank: Counter() for rank in log.ranks}
    last = 0
    for hit in log.all(_SUBMITTED):
        names = [name.strip() for name in hit.groups["names"].split(";") if name.strip()]
        submitted.setdefault(int(hit.groups["rank"]), Counter()).update(names)
        last = hit.line.number
    most = Counter[str]()
    for counts in submitted.values():
        most |= counts
    missing = {rank: tuple(most - counts) for rank, counts in submitted.items() if most - counts}
    return Waiting(last, missing) if missing else None
