"""A timeline as a trace that Perfetto opens: whole, with the ranks and the steps by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hvdkit.earlier import TRACE
from hvdkit.timeline.events import events_of
from hvdkit.timeline.steps import Step

_STEPS = 1 << 30  # a process number that no tensor has


def as_trace(text: str, steps: tuple[Step, ...]) -> dict[str, Any]:
    """The trace of a timeline's text; what is open where that is cut off ends there."""
    events = [*_named(text), *_of_steps(steps)]
    return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": TRACE}


def _named(text: str) -> Iterator[dict[str, Any]]:
    opened: dict[object, int] = {}
    last = 0.0
    for event in events_of(text):
        process, what = event.get("pid"), event.get("ph")
        last = max(last, event["ts"]) if isinstance(event.get("ts"), (int, float)) else last
        if what == "X":
            # A rank that is ready is a moment, named by its number alone.
            yield {**event, "ph": "i", "s": "p", "tid": process, "name": f"rank {event.get('name')} is ready"}
            continue
        if what in ("B", "E"):
            opened[process] = opened.get(process, 0) + (1 if what == "B" else -1)
        yield {**event, "tid": process}
    for process, open_ in opened.items():
        yield from ({"ph": "E", "ts": last, "pid": process, "tid": process} for _ in range(open_))


def _of_steps(steps: tuple[Step, ...]) -> Iterator[dict[str, Any]]:
    at = {"pid": _STEPS, "tid": _STEPS}
    yield {"ph": "M", "name": "process_name", **at, "args": {"name": "steps"}}
    for number, step in enumerate(steps, start=1):
        begin = min(step.first.values()) * 1e6
        rank, behind, _ = step.late()
        late = (
            {"last rank": rank, "behind the others, ms": round(behind * 1e3, 3)} if len(step.last) > 1 else {}
        )
        yield {
            "ph": "X",
            "name": f"step {number}",
            "ts": begin,
            "dur": step.duration * 1e6,
            "args": {**late, "exchanging, ms": round(step.exchanging * 1e3, 3)},
            **at,
        }
