"""The result for people (a table, the first difference, a verdict) and as JSON for machines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from hvdkit.console import console, plain
from hvdkit.verify.alone import Alone
from hvdkit.verify.cause import Cause
from hvdkit.verify.differences import Difference
from hvdkit.verify.invariant import Invariant, named
from hvdkit.verify.judge import Verification


def verdict(result: Verification) -> str:
    """One line that says what was shown."""
    comparison = result.comparison
    world = comparison.original.world
    failed = [invariant.name for invariant in result.invariants if not invariant.holds]
    if not comparison.agree:
        first = comparison.differences[0]
        at = f" ({first.places[1]})" if first.places[1] else ""
        return f"differ: {' '.join(filter(None, (first.stage.value, first.name)))}, {_when(first)}{at}"
    if failed:
        return f"does not hold: {failed[0]}"
    extent = f"{max(number for _, _, number in comparison.compared)} steps on {_ranks(world)}"
    how = "bit for bit"
    if not comparison.identical:
        allowed = comparison.tolerance.relative
        how = (
            f"within {allowed:g}"
            if allowed
            else "bit for bit, except for subnormal numbers and signs of zeros"
        )
    count = len(result.invariants)
    held = f", {count} invariant{'s hold' if count > 1 else ' holds'} on several ranks" if count else ""
    if result.unchecked:
        return f"agree{named(result.unchecked)} ({how}, {extent}{held})"
    return f"agree: {how}, {extent}{held}"


def print_result(result: Verification) -> None:
    """Print to stdout; colours where it is a terminal and NO_COLOR is not set."""
    report = console()
    report.print(_steps(result))
    report.print()
    print_invariants(report, result.invariants)
    for line in details(result):
        report.print(plain(line))
    report.print(plain(verdict(result), style=f"bold {'green' if result.holds else 'red'}"))


def print_invariants(report: Console, invariants: tuple[Invariant, ...]) -> None:
    """A line for each."""
    for invariant in invariants:
        state = plain("holds  ", style="green") if invariant.holds else plain("fails  ", style="red")
        report.print(state + plain(f"{invariant.name}: {invariant.detail}"))


def as_json(result: Verification) -> dict[str, Any]:
    """The result as JSON-ready data."""
    comparison = result.comparison
    return {
        "holds": result.holds,
        "identical": comparison.identical,
        "verdict": verdict(result),
        "ranks": comparison.original.world,
        "tolerance": asdict(comparison.tolerance),
        "compared": [
            {"rank": rank, "optimizer": optimizer, "step": step}
            for rank, optimizer, step in sorted(comparison.compared)
        ],
        "differences": [_as_json(difference) for difference in comparison.differences],
        "causes": [asdict(cause) for cause in result.causes],
        **shown(result),
    }


def shown(result: Verification | Alone) -> dict[str, Any]:
    """The keys that a comparison and one script alone have in common, as JSON-ready data."""
    return {
        "invariants": [asdict(invariant) for invariant in result.invariants],
        "unchecked": [asdict(each) for each in result.unchecked],
        "notes": list(result.notes),
        "not_reached": [asdict(missed) for missed in result.not_reached],
    }


def _as_json(difference: Difference) -> dict[str, Any]:
    raw = {**asdict(difference), "stage": difference.stage.value}
    for key in ("largest", "relative"):  # JSON has no NaN
        raw[key] = raw[key] if raw[key] is not None and math.isfinite(raw[key]) else None
    return raw


def _steps(result: Verification) -> Table:
    """One row per step: losses of rank 0, and for each rank whether everything recorded is equal."""
    comparison = result.comparison
    ranks = sorted(comparison.original.steps)
    first = comparison.original.steps[ranks[0]]
    several = len({step.optimizer for step in first}) > 1
    table = Table(box=None, pad_edge=False)
    table.add_column("step", justify="right")
    table.add_column("loss on rank 0", justify="right")
    for rank in ranks:
        table.add_column(f"rank {rank}")
    differing = {(d.rank, d.optimizer, d.step) for d in comparison.differences}
    for step in first:
        label = str(step.number or "start") + (f" of optimizer {step.optimizer}" if several else "")
        row = [label, f"{step.losses[-1]:.6f}" if step.losses else ""]
        for rank in ranks:
            key = (rank, step.optimizer, step.number)
            if key not in comparison.compared:
                row.append("-")
            elif key in differing:
                row.append("[red]differs[/]")
            else:
                row.append("[green]equal[/]" if comparison.identical else "[green]within[/]")
        table.add_row(*row)
    return table


def details(result: Verification) -> Iterator[str]:
    """The first difference, likely causes, the bar and the notes, a line each."""
    comparison = result.comparison
    if not comparison.agree:
        first = comparison.differences[0]
        yield f"first difference: {first.stage.value} {first.name} on rank {first.rank}, {_when(first)}"
        for who, value, place in zip(
            ("original", "migrated"), (first.original, first.migrated), first.places
        ):
            yield f"  {who}  {value}" + (f"  ({place})" if place else "")
        if first.largest is not None:
            relative = "" if first.relative is None else f", relative {first.relative:.3g}"
            yield f"  largest difference {first.largest:.3g}{relative}"
    yield from cause_lines((*result.causes, *causes_of(result.invariants)))
    yield f"bar: {comparison.tolerance.reason}"
    yield from remarks(result)


def remarks(result: Verification | Alone) -> Iterator[str]:
    """What was not checked, the notes, and what was not reached, a line each."""
    yield from map(str, result.unchecked)
    yield from (f"note: {note}" for note in result.notes)
    yield from map(str, result.not_reached)


def causes_of(invariants: tuple[Invariant, ...]) -> tuple[Cause, ...]:
    """Those of the invariants that do not hold, each once."""
    failed = (invariant.cause for invariant in invariants if not invariant.holds)
    return tuple(dict.fromkeys(cause for cause in failed if cause))


def cause_lines(causes: tuple[Cause, ...]) -> Iterator[str]:
    """As they are printed."""
    yield from (f"likely cause: {cause.text} (hvdkit explain {cause.rule})" for cause in causes)


def _when(difference: Difference) -> str:
    return f"step {difference.step}" if difference.step else "before the first step"


def _ranks(world: int) -> str:
    return f"{world} rank{'s' if world > 1 else ''}"
