"""What a run comes to, one line a program: ready, ready with choices, things left, or refused."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hvdkit.migrate.plan import Applicability, Plan, Program, State
from hvdkit.printable import one_line

SHOWN = 12  # programs that are named one by one


def verdicts(plan: Plan) -> Iterator[tuple[str, str]]:
    """A sentence for each program that trains, and its colour; many that are ready are summed up."""
    ready: list[str] = []
    for program in plan.programs:
        if program.kind == "none" and not program.conditions:
            continue
        said, colour = _verdict(plan, program)
        line = f"{one_line(os.path.relpath(program.entry))}: {said}"
        if colour == "green":
            ready.append(line)
        else:
            yield line, colour
    if len(ready) > SHOWN:
        yield f"ready, or ready with choices: {len(ready)} programs", "green"
    else:
        yield from ((line, "green") for line in ready)


def _verdict(plan: Plan, program: Program) -> tuple[str, str]:
    files = set(program.files)
    if program.kind == "none" and not program.refused:
        files = {program.entry}  # what is left in files that it shares is left to those that train
    if program.refused:
        found = (f for f in plan.left if f.applicability is Applicability.REFUSED and f.path in files)
        why = next((f"{finding.message} ({program.refused})" for finding in found), program.refused)
        runs = f"; as it is it runs by `{program.unchanged}`" if program.unchanged else ""
        return f"refused: {why}{runs}", "red"
    opened = sum(row.state is State.OPEN for row in program.conditions)
    left = opened + sum(finding.path in files for finding in (*plan.left, *plan.needed))
    left += sum(bool(file.problem) for file in plan.files if file.path in files)
    if left:
        return f"{left} thing{'s' if left > 1 else ''} left", "yellow"
    choices = sum(finding.path in files for finding in plan.choices)
    if choices:
        return f"ready with {choices} choice{'s' if choices > 1 else ''} (--suggested)", "green"
    return "ready", "green"
