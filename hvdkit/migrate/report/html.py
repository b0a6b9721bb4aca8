"""The report as one HTML file: verdict, what is left, table, and each diff with the findings at its lines."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from html import escape

from hvdkit.html import page, prose, table, tasks, verdict
from hvdkit.migrate.catalog.rule_files import COMMANDS, read, rule_files
from hvdkit.migrate.plan import FilePlan, Plan, Reason, Reported, State
from hvdkit.migrate.report.diff import lines_of
from hvdkit.migrate.report.verdicts import verdicts
from hvdkit.source.edits import address

KINDS = {"green": "good", "yellow": "open", "red": "bad"}
MARKS = {State.PROVEN: ("yes", "good"), State.OPEN: ("open", "open"), State.NONE: ("-", "")}


def as_html(plan: Plan) -> str:
    """The whole page of hvdkit migrate."""
    return page("hvdkit migrate", [*_verdicts(plan), *_body(plan)])


def findings_as_html(plan: Plan, summary: str) -> str:
    """The whole page of hvdkit check. summary: its last line, and the only one if nothing was found."""
    kind = "open" if plan.findings else "good"
    return page("hvdkit check", [verdict(summary, kind), *_verdicts(plan), *_body(plan)])


def _verdicts(plan: Plan) -> Iterator[str]:
    return (verdict(text, KINDS.get(colour, "open")) for text, colour in verdicts(plan))


def _body(plan: Plan) -> Iterator[str]:
    left = [*plan.left, *plan.needed]
    if left or plan.open:
        yield "<h2>Left to you</h2>"
        opened = (f"{escape(row.name)}: {escape(row.detail)}" for row in plan.open)
        yield tasks([*(_said(finding, place=True) for finding in left), *opened])
    if plan.choices:
        yield "<h2>Choices (--suggested)</h2>"
        yield tasks(_said(finding, place=True) for finding in plan.choices)
    for program in plan.programs:
        if program.conditions:
            yield f"<h2>{escape(os.path.relpath(program.entry))} after migration</h2>"
            rows = ((MARKS[row.state], row) for row in program.conditions)
            yield table(
                ("holds", "condition", "shown by"),
                [
                    (
                        f'<span class="{kind}">{mark}</span>',
                        escape(row.name),
                        escape(row.detail) + "".join(_why(row.why)),
                    )
                    for (mark, kind), row in rows
                ],
            )
    for path, line, reason in plan.unreadable:
        yield verdict(f"left alone: {os.path.relpath(path)}:{line}: {reason}", "open")
    for file in plan.files:
        if file.changed or file.findings or file.problem:
            yield from _file(file)
    named = sorted({finding.rule for finding in plan.findings})
    if named:
        yield "<h2>The rules</h2>"
        files = rule_files(*COMMANDS)
        for name in named:
            if name in files:
                rule = read(files[name])
                texts = "".join(f"<p>{escape(text)}</p>" for text in (rule.what, rule.why, rule.safety))
                yield f'<details id="{name}"><summary>{name}: {escape(rule.title)}</summary>{texts}</details>'


def _why(reasons: tuple[Reason, ...]) -> Iterator[str]:
    """The steps that --why asks for."""
    for reason in reasons:
        at = reason.spot
        place = "" if at is None else f"{address(os.path.relpath(at.path), at.line, at.cell)}: "
        code = f" <code>{escape(reason.code)}</code>" if reason.code else ""
        yield f"<br>{'&emsp;' * (reason.depth + 1)}{escape(place + reason.text)}{code}"


def _said(finding: Reported, place: bool = False) -> str:
    at = f"<code>{escape(os.path.relpath(finding.path))}:{finding.line}</code> " if place else ""
    advice = f" <b>{prose(finding.advice)}</b>" if finding.advice else ""
    return f'{at}<a href="#{finding.rule}">{finding.rule}</a> {prose(finding.message)}.{advice}'


def _file(file: FilePlan) -> Iterator[str]:
    """The two versions side by side, and below each line of the original what was found there."""
    yield f"<h2><code>{escape(os.path.relpath(file.path))}</code></h2>"
    if file.problem:
        yield verdict(f"left alone: {file.problem}", "open")
    before, after = lines_of(file.before), lines_of(file.after)
    found: dict[int, list[Reported]] = {}
    for finding in file.findings:
        found.setdefault(finding.line if not finding.cell else 0, []).append(finding)
    rows = [*_notes(found.pop(0, []))]
    for group in _groups(before, after, found):
        if rows:
            rows.append('<tr class="skip"><td colspan="4">...</td></tr>')
        for left, right, changed in group:
            rows.append(_row(before, after, left, right, changed))
            if left is not None:
                rows += _notes(found.pop(left + 1, []))
    yield f'<div class="scroll"><table class="diff">{"".join(rows)}</table></div>'


Line = tuple["int | None", "int | None", bool]


def _groups(before: list[str], after: list[str], found: dict[int, list[Reported]]) -> Iterator[list[Line]]:
    """Lines near changes and findings: the number before and after, from 0, and whether it differs."""
    lines: list[Line] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        for n in range(max(b - a, d - c)):
            left = a + n if a + n < b else None
            lines.append((left, c + n if c + n < d else None, tag != "equal"))
    near = {
        at + step
        for at, (left, _, changed) in enumerate(lines)
        if changed or (left is not None and left + 1 in found)
        for step in range(-3, 4)
    }
    group: list[Line] = []
    for at, line in enumerate(lines):
        if at in near:
            group.append(line)
        elif group:
            yield group
            group = []
    if group:
        yield group


def _row(before: list[str], after: list[str], left: int | None, right: int | None, changed: bool) -> str:
    def cells(lines: list[str], at: int | None, kind: str) -> str:
        if at is None:
            return '<td class="n"></td><td></td>'
        shade = f' class="{kind}"' if changed else ""
        return f'<td class="n">{at + 1}</td><td{shade}>{escape(lines[at])}</td>'

    return f"<tr>{cells(before, left, 'del')}{cells(after, right, 'add')}</tr>"


def _notes(findings: list[Reported]) -> list[str]:
    return [f'<tr class="note"><td colspan="4">{_said(finding)}</td></tr>' for finding in findings]
