"""How a timeline is printed, and the same as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hvdkit.printable import counted
from hvdkit.timeline.causes import Cause, bandwidth
from hvdkit.timeline.events import Timeline
from hvdkit.timeline.steps import Step, median

# What a timeline that was not recorded for this command does not say.
_UNNAMED = (
    "which rank the others wait for: the response cache leaves the ranks out; record it with "
    "`hvdkit run --timeline FILE`, or HOROVOD_CACHE_CAPACITY=0"
)


def data(timeline: Timeline, steps: Sequence[Step], causes: Sequence[Cause]) -> dict[str, Any]:
    """For --json; times in seconds, sizes in bytes."""
    return {
        "schema": 1,
        "complete": timeline.complete,
        "operations": len(timeline.operations),
        "ranks": list(timeline.ranks),
        "steps": len(steps),
        "step": median(step.duration for step in steps),
        "exchanging": median(step.exchanging for step in steps),
        "hidden": median(step.hidden for step in steps),
        "gradients": round(median(len(step.gradients) for step in steps)),
        "exchanges": round(median(len(step.exchanges) for step in steps)),
        "size": round(median(step.size for step in steps)),
        "bandwidth": bandwidth(steps, len(timeline.ranks)),
        "causes": [
            {"name": each.name, "share": each.share, "seen": each.seen, "fix": each.fix} for each in causes
        ],
        "unknown": _unknown(timeline, steps),
    }


def text(found: dict[str, Any]) -> str:
    """For a person: what `data` returns."""
    lines = summary(found)
    if not found["steps"]:
        return f"{lines[0]}\n"
    lines.append("")
    for cause in found["causes"]:
        lines += [f"{percent(cause['share']):>4}  {cause['seen']}", f"      fix: {cause['fix']}"]
    if not found["causes"]:
        lines.append("nothing in it makes the steps slow that a change of settings would help")
    lines += [f"not known from it: {each}" for each in found["unknown"]]
    return "\n".join(lines) + "\n"


def summary(found: dict[str, Any]) -> list[str]:
    """What a step is made of, in sentences: of what `data` returns."""
    if not found["steps"]:
        seen = f"{found['operations']} operations, and none that is repeated in each step"
        return [f"{seen}: a timeline of a few steps of a training is needed"]
    step, exchanging = found["step"], found["exchanging"]
    size = f"{found['size'] / 2**20:.1f} MiB"
    lines = [
        f"{found['steps']} steps of {step * 1e3:.1f} ms (median; the first are left out)",
        f"{found['gradients']} gradients, {size}, in {counted(found['exchanges'], 'exchange')} a step",
        f"exchanged for {exchanging * 1e3:.1f} ms of a step ({percent(exchanging / step)}), "
        f"{percent(found['hidden'] / exchanging if exchanging else 0.0)} of it during the backward pass",
    ]
    if found["bandwidth"]:
        lines.append(f"the fastest exchange carried {found['bandwidth'] / 2**20:.0f} MiB/s over each link")
    return lines


def _unknown(timeline: Timeline, steps: Sequence[Step]) -> list[str]:
    """What this timeline does not say."""
    unnamed = any(len(step.last) < 2 for step in steps)
    cut = [] if timeline.complete else ["what came after its last whole event: the file has no end"]
    return [*([_UNNAMED] if unnamed else []), *cut]


def percent(share: float) -> str:
    """A share from 0 to 1, for a person."""
    return f"{100 * share:.0f} %"
