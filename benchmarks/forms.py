"""Compare what `hvdkit migrate` says of ordinary ways to write one thing with what is expected.

    python benchmarks/forms.py DIR [EXPECTED]

DIR holds small scripts. EXPECTED (default: DIR/expected.csv) has a row for each: file, row of the table,
"expected after migration" and what is said about it. `yes`: the row holds, and nothing is left to the person.
`open`: the row is open, and the exit code is 1. Of the row `verdict` the exit code alone counts.

It prints the forms that are wrong, first those that are called ready and are not, and how many are right.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Plan, State


def problem(plan: Plan, row: str, expected: str) -> str:
    """What is wrong with a plan, "" where nothing is."""
    states = {each.name: each.state for program in plan.programs for each in program.conditions}
    if expected == "open":
        if not plan.leaves:
            return "called ready"
        return "" if row == "verdict" or states.get(row) is State.OPEN else "the row is not open"
    if row != "verdict" and states.get(row) is State.OPEN:
        return "the row is open"
    if not plan.leaves:
        return ""
    left = [f"{each.rule} at line {each.line}" for each in (*plan.left, *plan.needed)]
    return f"left: {', '.join([*left, *(each.name for each in plan.open)])}"


def wrong(folder: Path, rows: Sequence[Mapping[str, str]]) -> list[tuple[str, str, str]]:
    """The forms that are wrong: file, expected, and what is wrong."""
    found = []
    for row in rows:
        expected = row["expected after migration"]
        plan = make_plan([folder / row["file"]], Options())
        if said := problem(plan, row["row"], expected):
            found.append((row["file"], expected, said))
    return sorted(found, key=lambda each: (each[1] != "open", each[0]))


def main() -> None:
    """Print what is wrong, and how many are right."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("expected", type=Path, nargs="?")
    args = parser.parse_args()
    with (args.expected or args.folder / "expected.csv").open(newline="") as file:
        rows = [*csv.DictReader(file)]
    found = wrong(args.folder, rows)
    for name, expected, said in found:
        print(f"{name:28} {'false yes' if expected == 'open' else 'false alarm':12} {said}")
    print(f"{len(rows) - len(found)} of {len(rows)} right")


if __name__ == "__main__":
    main()
