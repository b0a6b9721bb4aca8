"""A timeline as one HTML file: what makes the steps slow, and a picture of a usual step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from hvdkit.html import curves, page, prose, table, verdict
from hvdkit.timeline.causes import ms
from hvdkit.timeline.events import Operation
from hvdkit.timeline.report import percent, summary
from hvdkit.timeline.steps import Step, median

_MOST = 60  # rows: those collectives that take the longest
_LEFT, _WIDTH, _ROW, _BAR, _TOP = 190, 780, 18, 11, 26  # of the picture
_LONGEST = 28  # characters of a name
_TICKS = 5


def as_html(found: dict[str, Any], steps: Sequence[Step]) -> str:
    """The whole page. found: what report.data returns of these steps."""
    return page("hvdkit timeline: why steps are slow", _body(found, steps))


def _body(found: dict[str, Any], steps: Sequence[Step]) -> Iterator[str]:
    lines, causes = summary(found), found["causes"]
    if not steps:
        yield verdict(lines[0], "open")
        return
    if causes:
        yield verdict(f"{percent(causes[0]['share'])} of a step: {causes[0]['seen']}", "bad")
    else:
        yield verdict("nothing was found that makes the steps slow", "good")
    yield from (f"<p>{prose(line)}</p>" for line in lines)
    if causes:
        yield "<h2>What takes the time</h2>"
        rows = [(percent(each["share"]), escape(each["seen"]), prose(each["fix"])) for each in causes]
        yield table(("of a step", "what was seen", "what to change"), rows)
    yield "<h2>A usual step</h2>"
    yield from _picture(_usual(steps))
    yield "<h2>All steps</h2>"
    taken = [("a step, ms", [step.duration * 1e3 for step in steps])]
    taken.append(("exchanging, ms", [step.exchanging * 1e3 for step in steps]))
    yield curves(taken, "milliseconds of each step, and of its exchange")
    yield from (f'<p class="open">not known from it: {prose(each)}</p>' for each in found["unknown"])


def _usual(steps: Sequence[Step]) -> Step:
    """The step whose duration is next to the median."""
    middle = median(step.duration for step in steps)
    return min(steps, key=lambda step: abs(step.duration - middle))


def _picture(step: Step) -> Iterator[str]:
    """The ranks, then the collectives in the order in which they were requested, over time."""
    every = (*step.gradients, *step.blocking)
    shown = sorted(sorted(every, key=lambda each: each.asked - each.end)[:_MOST], key=lambda each: each.asked)
    begin = min(each.asked for each in every)
    whole = max(step.duration, max(each.end for each in every) - begin)
    rows = [*_of_ranks(step, begin, whole), *_of_collectives(shown, step.blocking, begin, whole)]
    width, height = _LEFT + _WIDTH + 40, _TOP + _ROW * len(rows) + 8
    yield (
        "<p>Blue: from a rank's first gradient to its last. Orange: a collective that is sent; outlined, "
        "from its first request to its end. Where nothing is drawn, Horovod exchanges nothing and records "
        "nothing: ranks load data, run the forward pass, or update the weights.</p>"
    )
    if len(shown) < len(every):
        yield f"<p>The {len(shown)} of {len(every)} collectives that took the longest.</p>"
    drawn = "".join(
        f'<g transform="translate(0 {_TOP + _ROW * number})">{row}</g>' for number, row in enumerate(rows)
    )
    yield (
        f'<div class="scroll"><svg viewBox="0 0 {width} {height}" width="{width}" style="max-width: none" '
        f'role="img" aria-label="ranks and collectives of one step over time">'
        f"{_axis(whole, height)}{drawn}</svg></div>"
    )


def _axis(whole: float, height: int) -> str:
    """Marks at round numbers of milliseconds."""
    least = 1e3 * whole / _TICKS
    power = 10 ** math.floor(math.log10(least))
    tick = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)
    marks = []
    for number in range(int(1e3 * whole / tick) + 1):
        at = _LEFT + _WIDTH * number * tick / 1e3 / whole
        marks.append(
            f'<path d="M{at:.1f} 18V{height}" stroke="currentColor" opacity=".2"/>'
            f'<text x="{at:.1f}" y="12" text-anchor="middle">{number * tick:g} ms</text>'
        )
    return "".join(marks)


def _of_ranks(step: Step, begin: float, whole: float) -> Iterator[str]:
    for rank in sorted(step.first) if len(step.first) > 1 else ():
        first, last = step.first[rank] - begin, step.last[rank] - begin
        said = f"rank {rank}: first gradient at {ms(first)}, last at {ms(last)}"
        yield _label(f"rank {rank}") + _bar(first, last, whole, "fill: var(--one)", said)


def _of_collectives(
    shown: Iterable[Operation], blocking: Sequence[Operation], begin: float, whole: float
) -> Iterator[str]:
    for each in shown:
        asked, end = each.asked - begin, each.end - begin
        sent, received = (each.sent - begin, each.received - begin) if each.sent else (asked, end)
        alone = ", alone" if each in blocking else ""
        said = (
            f"{each.tensor}{alone}: requested at {ms(asked)}, sent from {ms(sent)} to {ms(received)}, "
            f"{each.size} bytes"
        )
        outlined = _bar(asked, end, whole, "fill: none; stroke: var(--two)", said)
        yield _label(each.tensor) + outlined + _bar(sent, received, whole, "fill: var(--two)", said)


def _label(name: str) -> str:
    # The end of a name says more: allreduce.backbone.layer1.0.conv1.weight
    text = name if len(name) <= _LONGEST else f"…{name[1 - _LONGEST :]}"
    return f'<text x="{_LEFT - 8}" y="{_BAR}" text-anchor="end">{escape(text)}</text>'


def _bar(begin: float, end: float, whole: float, style: str, said: str) -> str:
    x, width = _LEFT + _WIDTH * begin / whole, max(_WIDTH * (end - begin) / whole, 1.0)
    return (
        f'<rect x="{x:.1f}" y="1" width="{width:.1f}" height="{_BAR}" style="{style}">'
        f"<title>{escape(said)}</title></rect>"
    )
