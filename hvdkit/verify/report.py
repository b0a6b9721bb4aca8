"""The result of a comparison: a table and a verdict for people, the same as JSON for machines."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hvdkit.verify.compare import Comparison, Difference
from hvdkit.verify.session import Verification


def verdict(result: Verification) -> str:
    """One line that says what was shown."""
    comparison = result.comparison
    ranks = f"{comparison.original.world} rank{'s' if comparison.original.world > 1 else ''}"
    steps = max((number for _, _, number in comparison.compared), default=0)
    if comparison.identical:
        return f"agree: bit for bit, {steps} steps on {ranks}"
    if comparison.agree:
        return f"agree: within {comparison.tolerance.first:.1e} per step, {steps} steps on {ranks}"
    first = comparison.differences[0]
    return f"differ: {first.stage.title} {first.name}, {_when(first)}, rank {first.rank}"


def _when(difference: Difference) -> str:
    return f"step {difference.step}" if difference.step else "before the first step"


def print_result(result: Verification) -> None:
    """Print to stdout."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, soft_wrap=True)
    comparison = result.comparison
    table = Table(box=None, pad_edge=False)
    ranks = sorted(comparison.original.steps)
    table.add_column("step", justify="right")
    table.add_column("loss (rank 0)", justify="right")
    for rank in ranks:
        table.add_column(f"rank {rank}")
    bad = {(d.rank, d.optimizer, d.step) for d in comparison.differences}
    for step in comparison.original.steps[ranks[0]]:
        label = f"{step.number}" if step.number else "start"
        cells = []
        for rank in ranks:
            key = (rank, step.optimizer, step.number)
            if key in bad:
                cells.append("[red]differs[/]")
            else:
                cells.append("[green]equal[/]" if key in comparison.compared else "-")
        table.add_row(label, f"{step.losses[-1]:.6f}" if step.losses else "", *cells)
    console.print(table)
    console.print()
    colour = "green" if comparison.agree else "red"
    console.print(f"[bold {colour}]{verdict(result)}[/]")
    console.print(f"bar: {comparison.tolerance.reason}")
    for note in result.notes:
        console.print(f"note: {note}")
    if not comparison.agree:
        first = comparison.differences[0]
        console.print(f"  original {first.original}", markup=False)
        console.print(f"  migrated {first.migrated}", markup=False)
        if first.largest is not None:
            console.print(f"  largest difference {first.largest:.3g}, relative {first.relative:.3g}")
    for cause in result.causes:
        console.print(f"likely cause: {cause.text}  ({cause.rule})", markup=False)


def as_json(result: Verification) -> dict[str, Any]:
    """The result as JSON-ready data."""
    comparison = result.comparison
    return {
        "agree": comparison.agree,
        "identical": comparison.identical,
        "verdict": verdict(result),
        "ranks": comparison.original.world,
        "tolerance": asdict(comparison.tolerance),
        "compared": [
            {"rank": rank, "optimizer": optimizer, "step": step}
            for rank, optimizer, step in comparison.compared
        ],
        "differences": [{**asdict(d), "stage": d.stage.title} for d in comparison.differences],
        "causes": [asdict(cause) for cause in result.causes],
        "notes": list(result.notes),
    }
