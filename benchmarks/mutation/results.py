"""What verify took each mutant for, and how it is counted and printed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "mutation.json"
HEAD = """\
## Mutants made by rules

`python benchmarks/mutation.py --seed N --add` makes mistakes and refactorings where they fit, in programs
that it draws, and runs each on two ranks without verify first: only what computes, prints or saves other
values than the right migration counts as wrong. *unknown*: verify agrees, and names what it did not check.

"""
NAMED, OTHER, FALSE_YES, UNKNOWN = "refused and named", "refused, not named", "false yes", "unknown"
RIGHT, FALSE_NO, RIGHT_UNKNOWN, NOT_RUN = "agrees", "false no", "right, unknown", "not run"
KINDS = {True: (NAMED, OTHER, UNKNOWN, FALSE_YES), False: (RIGHT, RIGHT_UNKNOWN, FALSE_NO)}
# What verify prints of why it refuses.
REASONS = re.compile(
    "likely cause: |fails  |first difference: |differ: |does not hold: |hvdkit verify: |"
    "  (original|migrated)  "
)
VERDICT = re.compile(r"agree|differ: |does not hold: |hvdkit verify: ")


@dataclass(frozen=True)
class Mutant:
    """A migrated script, and what was made of it."""

    original: str
    operator: str
    wrong: bool
    text: str


@dataclass(frozen=True)
class Outcome:
    """what: one of the words above. said: the verdict, in a line."""

    original: str
    operator: str
    wrong: bool
    what: str
    said: str


def judged(mutant: Mutant, named: str, code: int, said: str, lines: set[int]) -> Outcome:
    """named: what a reason for refusing must match. lines: where the mutant is not the reference."""
    reasons = "\n".join(line for line in said.splitlines() if REASONS.match(line))
    if code == 2 and "the original script" in said:
        what = NOT_RUN
    elif not mutant.wrong:
        what = {0: RIGHT, 3: RIGHT_UNKNOWN}.get(code, FALSE_NO)
    elif code in (0, 3):
        what = FALSE_YES if code == 0 else UNKNOWN
    else:
        places = {int(number) for number in re.findall(r"migrated\.py:(\d+)", reasons)}
        causes = "\n".join(line for line in reasons.splitlines() if not line.startswith("  "))
        causes = re.sub("original|migrated", "", causes)  # their names hold a "rate"
        what = NAMED if places & lines or re.search(named, causes, re.IGNORECASE) else OTHER
    verdicts = [line for line in said.splitlines() if VERDICT.match(line)] or [f"exit code {code}"]
    return Outcome(mutant.original, mutant.operator, mutant.wrong, what, verdicts[-1][:160])


def counted(outcomes: Sequence[Outcome]) -> str:
    """How many mutants were taken for what."""
    lines = []
    for wrong, kinds in KINDS.items():
        mine = [one for one in outcomes if one.wrong is wrong]
        counts = Counter(one.what for one in mine)
        told = (kind for kind in (*kinds, NOT_RUN) if counts[kind] or kind in kinds)
        names = ", ".join(f"{counts[kind]} {kind}" for kind in told)
        operators, originals = ({getattr(one, of) for one in mine} for of in ("operator", "original"))
        what = f"{len(mine)} {'wrong' if wrong else 'right'}, {len(operators)} operators"
        lines.append(f"{what}, {len(originals)} originals: {names}")
    return "\n".join(lines)


def section() -> str:
    """The part of docs/mutants.md about these: by seed, by operator, and each that was judged wrongly."""
    runs = kept()
    text = HEAD + "".join(
        f"Seed {seed}:\n\n```text\n{counted(found)}\n```\n\n" for seed, found in runs.items()
    )
    all_ = [one for found in runs.values() for one in found]
    kinds = (*KINDS[True], *KINDS[False], NOT_RUN)
    text += f"| operator | {' | '.join(kinds)} |\n| --- |" + " ---: |" * len(kinds) + "\n"
    for operator in sorted({one.operator for one in all_}):
        counts = Counter(one.what for one in all_ if one.operator == operator)
        text += f"| {operator} | {' | '.join(str(counts[kind] or '') for kind in kinds)} |\n"
    failed = [one for one in all_ if one.what in (FALSE_YES, FALSE_NO, OTHER)]
    text += "\n" + "".join(f"- {one.what}: {one.operator} of {one.original}: {one.said}\n" for one in failed)
    return text.rstrip() + "\n"


def kept() -> dict[str, list[Outcome]]:
    """What earlier runs found, by their seeds."""
    raw = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    return {seed: [Outcome(**one) for one in outcomes] for seed, outcomes in raw.items()}


def add(seed: int, outcomes: Sequence[Outcome]) -> None:
    """Keep the results of a seed."""
    all_ = {**kept(), str(seed): outcomes}
    raw = {name: [asdict(one) for one in found] for name, found in all_.items()}
    RESULTS.write_text(json.dumps(raw, indent=1) + "\n", "utf-8")
