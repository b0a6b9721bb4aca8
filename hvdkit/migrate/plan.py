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
    SUGGESTED: probably wanted, but changes what is computed; applied with --suggested.
    MANUAL: never edited; a marker is left and the report says what to write.
    REFUSED: as MANUAL, and the program it belongs to is left as it was altogether.
    """

    SAFE = "safe"
    SUGGESTED = "suggested"
    MANUAL = "manual"
    REFUSED = "refused"


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
class Condition:
    """One row of the post-condition table for one program."""

    name: str
    state: State
    detail: str


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

    untouched and tests: how many files name no framework, or lie in a framework's own package, and how many
    unit tests were passed over. notes: command lines to change by hand, with what to write.
    """

    files: tuple[FilePlan, ...]
    programs: tuple[Program, ...]
    unreadable: tuple[tuple[Path, int, str], ...] = ()
    untouched: int = 0
    tests: int = 0
    notes: tuple[str, ...] = field(default=())

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
