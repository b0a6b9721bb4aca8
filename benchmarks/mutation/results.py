"""What verify took each mutant for, and how it is counted and printed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "mutation.json"
NAMED, OTHER, FALSE_YES, UNKNOWN = "refused and named", "refused, not named", "false yes", "unknown"
RIGHT, FALSE_NO, RIGHT_UNKNOWN, NOT_RUN = "agrees", "false no", "right, unknown", "not run"
KINDS = {True: (NAMED, OTHER, UNKNOWN, FALSE_YES), False: (RIGHT, RIGHT_UNKNOWN, FALSE_NO)}
# What verify prints of why it refuses.
REASONS = re.compile(
    r"likely cause: |fails  |first difference: |differ: |does not hold: |hvdkit verify: |  (original|migrated)  "
)


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
        what = NAMED if places & lines or re.search(named, causes, re.IGNORECASE) else OTHER
    verdicts = [
        line
        for line in said.splitlines()
        if re.match(r"agree|differ: |does not hold: |hvdkit verify: ", line)
    ]
    return Outcome(
        mutant.original, mutant.operator, mutant.wrong, what, (verdicts or [f"exit code {code}"])[-1][:160]
    )


def counted(outcomes: Sequence[Outcome]) -> str:
    """How many mutants were taken for what."""
    lines = []
    for wrong, kinds in KINDS.items():
        mine = [one for one in outcomes if one.wrong is wrong]
        counts = Counter(one.what for one in mine)
        names = ", ".join(
            f"{counts[kind]} {kind}" for kind in (*kinds, NOT_RUN) if counts[kind] or kind in kinds
        )
        operators = len({one.operator for one in mine})
        originals = len({one.original for one in mine})
        lines.append(
            f"{len(mine)} {'wrong' if wrong else 'right'}, {operators} operators, {originals} originals: {names}"
        )
    return "\n".join(lines)


def kept() -> dict[str, list[Outcome]]:
    """What earlier runs found, by their seeds."""
    raw = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    return {seed: [Outcome(**one) for one in outcomes] for seed, outcomes in raw.items()}


def add(seed: int, outcomes: Sequence[Outcome]) -> None:
    """Keep the results of a seed."""
    all_ = {**kept(), str(seed): outcomes}
    raw = {name: [asdict(one) for one in found] for name, found in all_.items()}
    RESULTS.write_text(json.dumps(raw, indent=1) + "\n", "utf-8")
