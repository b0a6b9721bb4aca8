"""The result as one HTML file: verdict, curves of loss and difference, differences, and invariants."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape

from hvdkit.html import curves, page, prose, table, verdict
from hvdkit.observe.records import Run
from hvdkit.verify.judge import Verification
from hvdkit.verify.report import cause_lines, causes_of, details
from hvdkit.verify.report import verdict as verdict_of


def as_html(result: Verification) -> str:
    """The whole file."""
    return page("hvdkit verify", _body(result))


def _losses(run: Run) -> list[float]:
    """Rank 0's last loss of each step, in order; steps without a finite one are left out."""
    steps = run.steps[min(run.steps)]
    return [float(step.losses[-1]) for step in steps if step.losses and math.isfinite(step.losses[-1])]


def _body(result: Verification) -> Iterator[str]:
    comparison = result.comparison
    yield verdict(verdict_of(result), "good" if result.holds else "bad")
    lines = [("original", _losses(comparison.original)), ("migrated", _losses(comparison.migrated))]
    if drawn := curves(lines, "loss on rank 0 after each step"):
        yield f"<h2>Loss on rank 0</h2>{drawn}"
    largest = _largest(result)
    drawn = curves([("largest difference", largest)], "largest difference of any value, step by step")
    if drawn and any(largest):
        yield f"<h2>Largest difference per step</h2>{drawn}"
    if comparison.differences:
        yield "<h2>Differences</h2>"
        rows = [
            (
                str(one.step or "start"),
                str(one.rank),
                escape(f"{one.stage.value} {one.name}"),
                f"<code>{escape(str(one.original))}</code>",
                f"<code>{escape(str(one.migrated))}</code>",
            )
            for one in comparison.differences[:100]
        ]
        yield table(("step", "rank", "what", "original", "migrated"), rows)
    if result.invariants:
        yield "<h2>What must hold on several ranks</h2>"
        held = [
            (
                f'<span class="{"good" if one.holds else "bad"}">{"holds" if one.holds else "fails"}</span>',
                escape(one.name),
                escape(one.detail),
            )
            for one in result.invariants
        ]
        yield table(("", "condition", "shown by"), held)
    yield "<h2>Notes</h2><ul>"
    causes = cause_lines((*result.causes, *causes_of(result.invariants)))
    yield from (f"<li>{prose(line)}</li>" for line in dict.fromkeys([*causes, *details(result)]))
    yield "</ul>"


def _largest(result: Verification) -> list[float]:
    """The largest difference of each compared step; 0 where all is equal."""
    numbers = sorted({step for _, _, step in result.comparison.compared})
    found = dict.fromkeys(numbers, 0.0)
    for one in result.comparison.differences:
        if one.largest is not None and math.isfinite(one.largest) and one.step in found:
            found[one.step] = max(found[one.step], one.largest)
    return list(found.values())
