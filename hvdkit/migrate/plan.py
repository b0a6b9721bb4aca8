"""What migrate wants to do, as plain data: places, edits, findings, and the plan that every output prints.

Nothing here reads or writes files.
"""

from __future__ import annotations

from dataclasses import field, replace
from enum import Enum
from pathlib import Path
from typing import Any, Union

from hvdkit.dataclass import dataclass
from hvdkit.source.edits import Edit, Place


class Applicability(str, Enum):
    """How far a finding's edits may be trusted (the terms of rustfix and ruff).

    SAFE: proven to keep what the script computes, or required by Horovod with one right answer.
    NEEDED: the migrated program is wrong without it, and the original's ranks do the same, or it is not
        proven; applied with --suggested, and left to you until then.
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


def todo(rule: str, text: str) -> str:
    """The comment above a statement at which something is left to you."""
    return f"# hvdkit: TODO[{rule}] {text}"


@dataclass(frozen=True)
class Obstacle:
    """Why an edit cannot be made. unfold: the statement that only needs lines of its own for it."""

    reason: str
    unfold: Place | None = None

    @property
    def advice(self) -> str:
        """What to do about it."""
        return f"{self.said}; put it on separate lines, or make the edit by hand"

    @property
    def said(self) -> str:
        """The reason, for a sentence."""
        return f"not rewritten because {self.reason}"


# What came of making edits.
Made = Union[tuple[Edit, ...], Obstacle]


@dataclass(frozen=True)
class Finding:
    """One thing a rule found at one place, and the edits that carry it out (none when already right).

    message: one sentence on what was seen or done. advice: for MANUAL, what to write instead; otherwise what
    to know about the edit, mostly nothing. obstacle: what kept edits from being made, for MANUAL or REFUSED.
    required: whether the program is refused where the edits cannot be made.
    """

    rule: str
    place: Place
    message: str
    applicability: Applicability
    edits: tuple[Edit, ...] = ()
    advice: str = ""
    obstacle: Obstacle | None = None
    required: bool = False

    def knowing(self, text: str) -> Finding:
        """The finding with something to know about its edit; what is left to you keeps its advice."""
        return replace(self, advice=text) if self.applicability is Applicability.SAFE else self


@dataclass(frozen=True)
class Reported:
    """A finding as a plan holds it, which outlives the trees: its place in lines and columns.

    cell: in a notebook the code cell, counted from 1, and line counts in it.
    """

    rule: str
    path: Path
    cell: int
    line: int
    column: int
    message: str
    applicability: Applicability
    edits: tuple[Edit, ...] = ()
    advice: str = ""

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
class Reason:
    """One step of what shows a row, or opens it. depth: how far it is behind what was done.

    code: the migrated code at the spot.
    """

    text: str
    depth: int = 0
    spot: Spot | None = None
    code: str = ""

    def as_json(self) -> dict[str, Any]:
        """The step for --json."""
        at = self.spot
        place = None if at is None else {"path": str(at.path), "line": at.line, "cell": at.cell}
        return {"text": self.text, "depth": self.depth, "place": place, "code": self.code}


@dataclass(frozen=True)
class Condition:
    """One row of the post-condition table for one program. spots: where an open one is to be looked at.

    why: what shows it, or opens it, step by step, where that is asked for.
    """

    name: str
    state: State
    detail: str
    spots: tuple[Spot, ...] = ()
    why: tuple[Reason, ...] = ()

    def is_called(self, words: str) -> bool:
        """Whether the name of the row has these words."""
        return words.casefold() in self.name.casefold()

    def as_json(self) -> dict[str, Any]:
        """The row for --json."""
        return {
            "name": self.name,
            "state": self.state.value,
            "detail": self.detail,
            "places": [{"path": str(at.path), "line": at.line, "cell": at.cell} for at in self.spots],
            **({"why": [reason.as_json() for reason in self.why]} if self.why else {}),
        }


@dataclass(frozen=True)
class FilePlan:
    """One file before and after. `problem` is set when the file is left alone for a reason."""

    path: Path
    before: str
    after: str
    encoding: str
    findings: tuple[Reported, ...] = ()
    problem: str = ""

    @property
    def changed(self) -> bool:
        """Whether writing the plan would change this file."""
        return self.before != self.after


@dataclass(frozen=True)
class Program:
    """An entry script and what it imports: its kind ("ddp", "single", "horovod", "none") and conditions.

    refused: why it stays as it is. unchanged: the command that runs it so, "" if there is none.
    """

    entry: Path
    kind: str
    files: tuple[Path, ...]
    conditions: tuple[Condition, ...] = ()
    refused: str = ""
    unchanged: str = ""


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
    def findings(self) -> list[Reported]:
        """All findings, in file and line order."""
        return [finding for file in self.files for finding in file.findings]

    @property
    def left(self) -> list[Reported]:
        """What is left to you."""
        manual = (Applicability.MANUAL, Applicability.REFUSED)
        return [finding for finding in self.findings if finding.applicability in manual]

    @property
    def open(self) -> list[Condition]:
        """The conditions that do not hold, or could not be shown to; one of several programs once."""
        rows = (row for program in self.programs if not program.refused for row in program.conditions)
        return list(dict.fromkeys(row for row in rows if row.state is State.OPEN))

    @property
    def needed(self) -> list[Reported]:
        """What the result is wrong without, and what is not carried out without --suggested."""
        return self._waiting(Applicability.NEEDED)

    @property
    def choices(self) -> list[Reported]:
        """What --suggested would change besides, as somebody may want."""
        return self._waiting(Applicability.SUGGESTED)

    def _waiting(self, kind: Applicability) -> list[Reported]:
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
        """Whether anything is left to you."""
        failed = self.unreadable or any(file.problem for file in self.files)
        return bool(self.left or self.open or self.needed or failed)

    @property
    def told(self) -> list[Reported]:
        """What is rewritten, and comes with something to know."""
        findings = (finding for file in self.files if file.changed for finding in file.findings)
        return [f for f in findings if f.applicability is Applicability.SAFE and f.advice]

    @property
    def held_back(self) -> list[Reported]:
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
