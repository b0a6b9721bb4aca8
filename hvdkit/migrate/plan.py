"""What migrate wants to do, as plain data: edits, findings, and the plan that every output prints.

Nothing here reads or writes files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any


class Applicability(str, Enum):
    """How far a finding's edits may be trusted (the terms of rustfix and ruff).

    SAFE: proven to keep what the script computes, or required by Horovod with one right answer.
    NEEDED: the migrated program is wrong without it, but it changes what is computed, or is not proven;
        applied with --suggested, and left to the person until then.
    SUGGESTED: a choice, such as a larger learning rate; applied with --suggested.
    MANUAL: never edited; a marker is left and the report says what to write.
    REFUSED: as MANUAL, and the program it belongs to is left as it was altogether.
    """

    SAFE = "safe"
    NEEDED = "needed"
    SUGGESTED = "suggested"
    MANUAL = "manual"
    REFUSED = "refused"


WAITING = (Applicability.NEEDED, Applicability.SUGGESTED)  # for --suggested


@dataclass(frozen=True, order=True)
class Edit:
    """Replace text[start:end] (character offsets) by `text`."""

    start: int
    end: int
    text: str


def address(file: str, line: int, cell: int = 0) -> str:
    """A line as reports name it: `train.py:12`, and in a notebook `train.ipynb:cell 2:3`."""
    return f"{file}:cell {cell}:{line}" if cell else f"{file}:{line}"


@dataclass(frozen=True)
class Finding:
    """One thing a rule found in one file, and the edits that carry it out (none when already right).

    message: one sentence on what was seen or done. advice: for MANUAL, what to write instead; otherwise what
    to know about the edit, mostly nothing.
    cell: in a notebook the 1-based code cell, and line counts in it; line_in_program counts on through cells.
    """

    rule: str
    path: Path
    line: int
    column: int
    message: str
    applicability: Applicability
    edits: tuple[Edit, ...] = ()
    advice: str = ""
    cell: int = 0
    line_in_program: int = 0

    def knowing(self, text: str) -> Finding:
        """The finding with something to know about its edit; what is left to the person keeps its advice."""
        return replace(self, advice=text) if self.applicability is Applicability.SAFE else self

    def as_json(self) -> dict[str, Any]:
        """The finding for --json; edits as [start, end, replacement]."""
        return {
            "rule": self.rule,
            "path": str(self.path),
            "line": self.line,
            "column": self.column,
            "cell": self.cell,
            "message": self.message,
            "applicability": self.applicability.value,
            "advice": self.advice,
            "edits": [[edit.start, edit.end, edit.text] for edit in self.edits],
        }


class State(str, Enum):
    """Whether a post-condition of a migrated program holds."""

    PROVEN = "proven"
    OPEN = "open"  # it does not hold, or could not be shown: the sentence says which
    NONE = "not needed"


@dataclass(frozen=True)
class Spot:
    """A line of a file; of a cell's lines in a notebook. cell: 1-based, 0 outside notebooks."""

    path: Path
    line: int
    cell: int = 0


@dataclass(frozen=True)
class Condition:
    """One row of the post-condition table for one program. spots: where an open one is to be looked at."""

    name: str
    state: State
    detail: str
    spots: tuple[Spot, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The row for --json."""
        return {
            "name": self.name,
            "state": self.state.value,
            "detail": self.detail,
            "places": [{"path": str(at.path), "line": at.line, "cell": at.cell} for at in self.spots],
        }


@dataclass(frozen=True)
class FilePlan:
    """One file before and after. `problem` is set when the file is left alone for a reason."""

    path: Path
    before: str
    after: str
    encoding: str
    findings: tuple[Finding, ...] = ()
    problem: str = ""

    @property
    def changed(self) -> bool:
        """Whether writing the plan would change this file."""
        return self.before != self.after


@dataclass(frozen=True)
class Program:
    """An entry script and what it imports: its kind ("ddp", "single", "horovod", "none") and conditions."""

    entry: Path
    kind: str
    files: tuple[Path, ...]
    conditions: tuple[Condition, ...] = ()
    refused: str = ""


@dataclass(frozen=True)
class Plan:
    """Everything one run found and would do.

    suggested: whether the edits that wait for --suggested are carried out.
    untouched and tests: how many files name no framework, or lie in a framework's own package, and how many
    unit tests were passed over. notes: command lines to change by hand, with what to write.
    """

    files: tuple[FilePlan, ...]
    programs: tuple[Program, ...]
    unreadable: tuple[tuple[Path, int, str], ...] = ()
    untouched: int = 0
    tests: int = 0
    notes: tuple[str, ...] = field(default=())
    suggested: bool = False

    @property
    def findings(self) -> list[Finding]:
        """All findings, in file and line order."""
        return [finding for file in self.files for finding in file.findings]

    @property
    def left(self) -> list[Finding]:
        """What is left to the person."""
        manual = (Applicability.MANUAL, Applicability.REFUSED)
        return [finding for finding in self.findings if finding.applicability in manual]

    @property
    def open(self) -> list[Condition]:
        """The conditions that do not hold, or could not be shown to; one of several programs once."""
        rows = (row for program in self.programs if not program.refused for row in program.conditions)
        return list(dict.fromkeys(row for row in rows if row.state is State.OPEN))

    @property
    def needed(self) -> list[Finding]:
        """What the result is wrong without, and what is not carried out without --suggested."""
        return self._waiting(Applicability.NEEDED)

    @property
    def choices(self) -> list[Finding]:
        """What --suggested would change besides, as somebody may want."""
        return self._waiting(Applicability.SUGGESTED)

    def _waiting(self, kind: Applicability) -> list[Finding]:
        refused = {path for program in self.programs if program.refused for path in program.files}
        goes_on = {path for program in self.programs if not program.refused for path in program.files}
        return [
            finding
            for finding in self.findings
            if finding.applicability is kind and not self.suggested
            if finding.path not in refused - goes_on
        ]

    @property
    def leaves(self) -> bool:
        """Whether anything is left to the person."""
        failed = self.unreadable or any(file.problem for file in self.files)
        return bool(self.left or self.open or self.needed or failed)

    @property
    def told(self) -> list[Finding]:
        """What is rewritten, and comes with something to know."""
        findings = (finding for file in self.files if file.changed for finding in file.findings)
        return [f for f in findings if f.applicability is Applicability.SAFE and f.advice]

    @property
    def held_back(self) -> list[Finding]:
        """What would be rewritten if its file did not stay as it is, refused or with a problem."""
        return [
            finding
            for file in self.files
            for finding in file.findings
            if not file.changed and finding.edits and finding.applicability is Applicability.SAFE
        ]

    @property
    def changed(self) -> list[FilePlan]:
        """The files that writing the plan would change."""
        return [file for file in self.files if file.changed]


class EditConflict(Exception):
    """Two edits want the same characters and neither contains the other."""


def merge(edits: Iterable[Edit]) -> list[Edit]:
    """Edits in order, those inside a larger one dropped. Raises EditConflict.

    Insertions at one place keep the order in which they were given, which is the order of the rules, within
    these kinds: what belongs to an argument that ends there, arguments that are added behind it and lines
    above a statement, the line of a block that is put around it, notes, and what indents it.
    """
    kept: list[Edit] = []
    unique = list(dict.fromkeys(edits))
    for edit in sorted(
        unique, key=lambda edit: (edit.start, edit.end > edit.start, -edit.end, _lateness(edit))
    ):
        if kept and edit.start < kept[-1].end:
            if edit.end <= kept[-1].end:
                continue
            raise EditConflict(f"{kept[-1]} and {edit}")
        kept.append(edit)
    return kept


def _lateness(edit: Edit) -> int:
    text = edit.text.strip()
    ends_line = edit.text.endswith(("\n", "\r"))
    if not text:
        return 0 if ends_line or not edit.text else 4
    if text.startswith("#"):
        return 3
    return 2 if ends_line and text.endswith(":") else int(text.startswith(","))


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with merged edits carried out."""
    pieces: list[str] = []
    position = 0
    for edit in merge(edits):
        pieces += [text[position : edit.start], edit.text]
        position = edit.end
    return "".join((*pieces, text[position:]))
