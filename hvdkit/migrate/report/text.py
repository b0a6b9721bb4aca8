"""The report for people, on standard output."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from hvdkit.console import console, plain, show_line, show_source
from hvdkit.migrate.facts import Options
from hvdkit.migrate.options import DDP
from hvdkit.migrate.plan import WAITING, Applicability, Condition, FilePlan, Plan, Program, Reported, State
from hvdkit.migrate.report.diff import file_diff
from hvdkit.migrate.report.verdicts import verdicts
from hvdkit.printable import counted, one_line
from hvdkit.shell import word
from hvdkit.source.edits import address
from hvdkit.source.notebook import NOTEBOOK

COLOURS = {"+": "green", "-": "red", "@": "cyan"}
MANY = 12  # line numbers in one line of the report
SHOWN = 3  # scripts that the line on how to start names
MARKS = {State.PROVEN: ("yes", "green"), State.OPEN: ("open", "yellow"), State.NONE: ("-", "dim")}


def show(plan: Plan, options: Options, diff: bool, table: bool, following: Sequence[str]) -> None:
    """Summary, diff, post-conditions, what to know, what is left, and the verdict on each program.

    The summary comes before a diff, which may fill several screens, and the verdicts come last.
    table: whether to list the conditions that hold as well. following: the commands to type next.
    """
    diff = diff and bool(plan.changed)
    if diff:
        show_line(f"{summary(plan, options)}. Diff, checks and verdict follow.")
        show_diff(plan)
    for program in plan.programs:
        if program.kind != "none" or program.conditions:
            _conditions(program, table)
    _show_why(plan)
    for finding, lines in _alike(plan.told):
        show_finding(finding, "cyan", lines)
    _show_left(plan)
    for finding, lines in _alike(plan.choices):
        show_finding(_suggested(finding, "choice"), "cyan", lines)
    show_left_alone(plan)
    for note in plan.notes:
        show_line((f"start {note}", "cyan"))
    for line in _starts(plan, options.target == DDP):
        show_line((line, "cyan"))
    for command in following:
        show_line((f"next {command}", "cyan"))
    if not diff:
        show_line(summary(plan, options))
    _show_verdicts(plan)


def show_quietly(plan: Plan) -> None:
    """Only what is left to you, and the verdict on each program."""
    _show_why(plan)
    _show_left(plan)
    show_left_alone(plan)
    _show_verdicts(plan)


def _show_left(plan: Plan) -> None:
    for condition in plan.open:
        show_open(condition)
    for finding, lines in _alike(plan.left):
        show_finding(finding, lines=lines)
    for finding, lines in _alike(plan.needed):
        show_finding(_suggested(finding, "needed"), lines=lines)


def _suggested(finding: Reported, kind: str) -> Reported:
    """The finding, whose message says which option carries it out."""
    return replace(finding, message=f"{finding.message} ({kind}: --suggested)")


def _show_verdicts(plan: Plan) -> None:
    for verdict, colour in verdicts(plan):
        show_line((verdict, colour))


def show_open(condition: Condition) -> None:
    """A condition that does not hold, or could not be shown to, with the lines to look at."""
    at, *others = [address(_name(spot.path), spot.line, spot.cell) for spot in condition.spots]
    said = f"{at}: open: {condition.name}: {condition.detail}"
    show_line((said, "yellow"))
    if others:
        show_line(f"    the same at {_few(others)}")


def show_diff(plan: Plan) -> None:
    """The diff in colour."""
    for file in plan.changed:
        show_file_diff(file)


def show_file_diff(file: FilePlan) -> None:
    """One file's diff in colour."""
    for line in file_diff(file):
        show_source(line, "bold" if line.startswith(("+++", "---")) else COLOURS.get(line[:1], ""))


def show_left_alone(plan: Plan) -> None:
    """The files that could not be read, and those whose edits were taken back."""
    for path, number, reason in plan.unreadable:
        _say("left alone", "yellow", f"{_name(path)}:{number}: {reason}")
    for file in plan.files:
        if file.problem:
            _say("left alone", "red", f"{_name(file.path)}: {file.problem}")


def _starts(plan: Plan, back: bool) -> Iterator[str]:
    """How the rewritten scripts are started that no command line beside them was found for."""
    changed = {file.path for file in plan.changed}
    told = " ".join(plan.notes)
    scripts: list[str] = []
    for program in plan.programs:
        same = "ddp" if back else "horovod"
        migrated = program.kind not in ("none", same) and not program.refused
        if migrated and changed.intersection(program.files) and program.entry.name not in told:
            if program.entry.suffix == NOTEBOOK:
                yield f"start `hvdkit run -np N {_word(program.entry)}`: N ranks, one for each GPU"
            else:
                scripts.append(_word(program.entry))
    if scripts:
        more = f" and {len(scripts) - SHOWN} more" if scripts[SHOWN:] else ""
        alike = f"; so {', '.join(scripts[1:SHOWN])}{more}" if scripts[1:] else ""
        start = "torchrun --nproc-per-node N" if back else "horovodrun -np N python"
        yield f"start `{start} {scripts[0]}`: N ranks, one for each GPU{alike}"


def summary(plan: Plan, options: Options) -> str:
    """One line: sites handled of sites found, files, what is left, what --suggested would add."""
    if not plan.findings and not plan.leaves and not any(verdicts(plan)):
        return ", ".join(["no training code found", *_skipped(plan)])
    kinds = [finding.applicability for finding in plan.findings]
    held_back = len(plan.held_back)
    waiting = sum(kind in WAITING for kind in kinds)
    handled = kinds.count(Applicability.SAFE) - held_back + (waiting if options.suggested else 0)
    left = len(plan.left) + len(plan.open) + len(plan.needed)
    parts = [
        f"{handled} of {counted(len(kinds), 'site')} rewritten in {counted(len(plan.changed), 'file')}",
        f"{left or 'nothing'} left to you",
    ]
    if held_back:
        parts.append(f"{held_back} held back in files that stay as they are")
    if plan.needed:
        parts.append(f"{len(plan.needed)} of them done by --suggested")
    if plan.choices:
        parts.append(f"{counted(len(plan.choices), 'more choice')} with --suggested")
    return ", ".join([*parts, *_skipped(plan)])


def _skipped(plan: Plan) -> Iterator[str]:
    if plan.untouched:
        yield f"{counted(plan.untouched, 'file')} without a framework, or part of one"
    if plan.tests:
        yield f"{counted(plan.tests, 'unit test file')} skipped"


def _conditions(program: Program, every: bool) -> None:
    if program.refused:
        why = f"{_name(program.entry)} and its files are left as they are ({program.refused})"
        _say("refused", "red", why)
        return
    proven = sum(condition.state is State.PROVEN for condition in program.conditions)
    apply = sum(condition.state is not State.NONE for condition in program.conditions)
    rest = len(program.conditions) - apply
    said = f"{proven} of {counted(apply, 'condition')} hold"
    if rest:
        said += f"; {rest} {'does' if rest == 1 else 'do'} not apply"
    more = "" if every else " (--table shows all)"
    show_line((f"{_name(program.entry)} after migration: {said}{more}", "bold"))
    rows = [each for each in program.conditions if every or each.state is State.OPEN]
    if not rows:
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("holds")
    table.add_column("condition")
    table.add_column("shown by", overflow="fold")
    for condition in rows:
        mark, colour = MARKS[condition.state]
        table.add_row(plain(mark, colour), condition.name, plain(condition.detail))
    console(wraps=True).print(table)


def _show_why(plan: Plan) -> None:
    """The rows that --why asks for, and what decides them, step by step."""
    for program in plan.programs:
        for row in program.conditions:
            if not row.why:
                continue
            mark, colour = MARKS[row.state]
            _say(f"why {mark}", colour, f"{_name(program.entry)}: {row.name}: {row.detail}")
            for reason in row.why:
                at = reason.spot
                place = "" if at is None else f"{address(_name(at.path), at.line, at.cell)}: "
                code = f"  {reason.code}" if reason.code else ""
                show_line(f"{'    ' * (reason.depth + 1)}{place}{reason.text}{code}")


def _alike(findings: Sequence[Reported]) -> Iterator[tuple[Reported, list[int]]]:
    """The first of the findings of one file that ask for the same, and the lines of the others.

    What refuses a program may be named in a hundred lines, each in words of its own.
    """
    groups: dict[object, list[Reported]] = {}
    for finding in findings:
        words = "" if finding.applicability is Applicability.REFUSED else finding.message
        key = (finding.rule, finding.path, finding.cell, words, finding.advice)
        groups.setdefault(key, []).append(finding)
    for first, *others in groups.values():
        yield first, sorted({finding.line for finding in others} - {first.line})


def show_finding(finding: Reported, style: str = "yellow", lines: Sequence[int] = ()) -> None:
    """One finding: its place, what was seen, and what to write or know. lines: where it stands again."""
    place = address(_name(finding.path), finding.line, finding.cell)
    show_line((f"{place}: {finding.rule} {finding.message}", style))
    if finding.advice:
        show_line(f"    {finding.advice}")
    if lines:
        show_line(f"    the same at line {_few(list(map(str, lines)))}")


def _few(places: Sequence[str]) -> str:
    """The first of many, and how many more there are."""
    more = f" and {len(places) - MANY} more" if len(places) > MANY else ""
    return ", ".join(places[:MANY]) + more


def _say(word: str, colour: str, what: str) -> None:
    """A coloured word and what it is about, as it is: `file.py:100:` is no emoji, `[0]` no colour."""
    show_line((word, colour), f" {what}")


def _name(path: Path) -> str:
    return one_line(os.path.relpath(path))


def _word(path: Path) -> str:
    return word(os.path.relpath(path))
