"""A verdict for people and for machines."""

from __future__ import annotations

import textwrap

from hvdkit.credentials import masked
from hvdkit.explain.ended import ended
from hvdkit.explain.log import Line, Log
from hvdkit.explain.verdict import Found, Verdict

# The two steps that tell more of a job that failed, and of one that hangs.
_FAILED = (
    "take the output of all ranks from the start: horovodrun ... 2>&1 | tee job.log",
    "one rank alone: horovodrun -np 1 -H localhost:1 python train.py",
)
_HANGS = (
    "who waits for whom: HOROVOD_STALL_CHECK_TIME_SECONDS=30 (under --mpi) or HOROVOD_LOG_LEVEL=trace (under"
    " --gloo) horovodrun ..., stop it after a minute, and explain that log",
    "where each rank is: py-spy dump --pid PID for each rank's process",
)
_LINES = 3  # of evidence
_WIDTH = 160


def text(verdict: Verdict, name: str) -> str:
    """Cause, where it shows, why, and what fixes it. name: of the log, as the caller gave it."""
    if not verdict.found:
        parts = [f"unknown: nothing in {name} says why a Horovod job failed or hangs", "  try next:"]
        parts += [f"    {step}" for step in next_steps(verdict.log)]
    else:
        first, *others = verdict.found
        parts = [f"cause: {first.title}  [{first.cause.id}]"]
        parts += [f"  {name}:{line.number}: {shown(line)}" for line in evidence(verdict, first)]
        parts += [f"  why: {first.why}", f"  fix: {first.fix}"]
        if others:
            parts.append("  also in this log, and perhaps what follows from it:")
            parts += [f"    {name}:{one.match.line}: {one.title}  [{one.cause.id}]" for one in others]
    for one in verdict.harmless:
        times = f" ({one.count} times)" if one.count > 1 else ""
        parts.append(
            f"  harmless: {name}:{one.number}: {textwrap.shorten(one.text, 60)}{times}: {one.reason}"
        )
    return masked("\n".join(parts)) + "\n"


def data(verdict: Verdict) -> dict[str, object]:
    """The same for machines; `cause` is null when it is unknown."""
    first = verdict.found[0] if verdict.found else None
    return {
        "cause": first.cause.id if first else None,
        **(_found(first) if first else {"next": list(next_steps(verdict.log))}),
        "evidence": [masked(line.text) for line in evidence(verdict, first)] if first else [],
        "also": [{"cause": one.cause.id, **_found(one)} for one in verdict.found[1:]],
        "harmless": [
            {"line": one.number, "count": one.count, "text": masked(one.text), "reason": one.reason}
            for one in verdict.harmless
        ],
    }


def next_steps(log: Log) -> tuple[str, str]:
    """What would tell more, where nothing in the log says why: a job whose end is not in it hangs."""
    return _HANGS if log.ranks and not (log.tracebacks or ended(log)) else _FAILED


def evidence(verdict: Verdict, found: Found) -> list[Line]:
    """The line that shows a cause and the next of the same rank."""
    lines = verdict.log.lines
    start = next(place for place, line in enumerate(lines) if line.number == found.match.line)
    rank = lines[start].rank
    return [line for line in lines[start:] if line.rank == rank and line.text.strip()][:_LINES]


def shown(line: Line) -> str:
    """A line as it is printed: with its rank, and not too long."""
    who = "" if line.rank is None else f"[{line.rank}] "
    return textwrap.shorten(masked(who + line.text.strip()), _WIDTH, placeholder=" ...")


def _found(found: Found) -> dict[str, object]:
    told = {"title": found.title, "why": found.why, "fix": found.fix}
    return {**{name: masked(sentence) for name, sentence in told.items()}, "line": found.match.line}
