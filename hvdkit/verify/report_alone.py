"""The result for one script without an original: for people and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.table import Table

from hvdkit.console import console, plain
from hvdkit.verify.alone import Alone
from hvdkit.verify.invariant import named
from hvdkit.verify.report import cause_lines, causes_of, print_invariants, remarks, shown


def verdict(result: Alone) -> str:
    """One line that says what was shown."""
    failed = [invariant.name for invariant in result.invariants if not invariant.holds]
    if failed:
        return f"does not hold: {failed[0]}"
    steps = max(map(result.run.taken, result.run.steps))
    extent = f"{steps} steps on {result.run.world} ranks"
    count = f"{len(result.invariants)} invariants"
    if result.unchecked:
        return f"holds{named(result.unchecked)} ({count}, {extent})"
    return f"holds: {count}, {extent}"


def print_result(result: Alone) -> None:
    """Print to stdout; colours where it is a terminal and NO_COLOR is not set."""
    report = console()
    report.print(_losses(result))
    report.print()
    print_invariants(report, result.invariants)
    for line in (*cause_lines(causes_of(result.invariants)), *remarks(result)):
        report.print(plain(line))
    report.print(plain(verdict(result), style=f"bold {'green' if result.holds else 'red'}"))


def as_json(result: Alone) -> dict[str, Any]:
    """The result as JSON-ready data, with the keys of a comparison where they mean the same."""
    return {
        "holds": result.holds,
        "verdict": verdict(result),
        "ranks": result.run.world,
        "steps": {str(rank): result.run.taken(rank) for rank in result.run.steps},
        "causes": [asdict(cause) for cause in causes_of(result.invariants)],
        **shown(result),
    }


def _losses(result: Alone) -> Table:
    """One row per step: the loss of each rank."""
    table = Table(box=None, pad_edge=False)
    table.add_column("step", justify="right")
    for rank in result.run.steps:
        table.add_column(f"loss on rank {rank}", justify="right")
    several = len({step.optimizer for steps in result.run.steps.values() for step in steps}) > 1
    for steps in zip(*result.run.steps.values()):
        first = steps[0]
        if first.number:
            label = str(first.number) + (f" of optimizer {first.optimizer}" if several else "")
            table.add_row(label, *(f"{step.losses[-1]:.6f}" if step.losses else "" for step in steps))
    return table
