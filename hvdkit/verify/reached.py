"""What a run reaches, between two steps, of what programs have besides steps."""

from __future__ import annotations

from collections.abc import Iterable

from hvdkit.observe.records import EVALUATION, PASS_ENDED, RESUME, Event, Run

EPOCH, EVALUATES, SAVES, LOADS = "the end of an epoch", "evaluation", "saving", "resume"


def reached_by(events: Iterable[Event], writes: Iterable[str], loader: int) -> set[str]:
    """What has come with these. loader: that of the last batch; -1 for none."""
    whats = {event.what for event in events}
    ended = {event.detail.split()[0] for event in events if event.what == PASS_ENDED}
    seen = {
        EPOCH: loader < 0 or str(loader) in ended,
        EVALUATES: EVALUATION in whats,
        SAVES: any(True for _ in writes),
        LOADS: RESUME in whats,
    }
    return {what for what, is_there in seen.items() if is_there}


def steps_to(run: Run, until: Iterable[str], least: int) -> int:
    """The step with which a run has reached all of these that it reaches at all."""
    left = set(until)
    last = least
    for step in run.steps[min(run.steps)]:
        new = left & reached_by(step.events, step.writes, step.loader) if step.number else set()
        if new:
            last = max(last, step.number)
            left -= new
    return last
