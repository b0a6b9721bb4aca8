"""The new text of one file: its edits and notes merged, and the proof that Python takes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hvdkit.dataclass import dataclass
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.refusals import applied
from hvdkit.migrate.edits.blocks import fill
from hvdkit.migrate.edits.joining import joined
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Applicability, Finding, todo
from hvdkit.migrate.rewrites import tensorflow as tensorflow_edits
from hvdkit.migrate.rewrites.imports import import_edits
from hvdkit.source.edits import HEADERS, Edit, EditConflict, Slot
from hvdkit.source.index.names import Names
from hvdkit.source.read.notebook import NotANotebook
from hvdkit.source.read.source import Source, Unreadable, does_not_compile, parse

LEFT = (Applicability.MANUAL, Applicability.REFUSED)


@dataclass(frozen=True)
class Rewritten:
    """A file's new text, as a second run reads it."""

    text: str
    source: Source


@dataclass(frozen=True)
class Unwritable:
    """Why a file cannot be rewritten."""

    problem: str


def rewrite(facts: Facts, names: Names, findings: Sequence[Finding]) -> Rewritten | Unwritable | None:
    """What a file becomes; None where nothing is to be written into it."""
    changes = [edit for finding in applied(findings, facts.options) for edit in finding.edits]
    left = (finding for finding in findings if finding.applicability in LEFT)
    notes = [note for finding in left for note in marker(facts, names, finding)]
    if not changes and not notes:
        return None
    try:
        text = merged(facts, names, changes, notes)
    except (EditConflict, NotANotebook, edits.CannotEdit) as error:
        return Unwritable(f"its edits cannot be combined ({error})")
    return _proven(names.source, text)


def marker(facts: Facts, names: Names, finding: Finding) -> list[Edit]:
    """The TODO line above what is left to you; none when it is there already."""
    source, statement = names.source, names.statement(finding.place.node)
    text = todo(finding.rule, finding.advice or finding.message)
    if text in source.comments_above(statement):
        return []
    try:
        return tensorflow_edits.before(facts, names, statement, [text], Slot.NOTE)
    except edits.CannotEdit:
        return []


def merged(facts: Facts, names: Names, changes: Sequence[Edit], notes: Iterable[Edit]) -> str:
    """The text with all edits and notes. Raises EditConflict, NotANotebook, CannotEdit."""
    if changes:
        # Imports first, so that they stand above what a rule puts below the last of them.
        changes = fill(names, [*import_edits(facts, names, changes), *changes])
    placed = [_inside(names.source, note, changes) for note in notes]
    return names.source.rewritten(joined(names.source, [*changes, *placed]))


def _inside(source: Source, note: Edit, changes: Iterable[Edit]) -> Edit:
    """A TODO line, indented like its statement where that goes under headers: `if hvd.rank() == 0:`."""
    here = [change for change in changes if change.inserts and change.start == note.start]
    depth = sum(change.slot in HEADERS for change in here)
    indent = note.text[: len(note.text) - len(note.text.lstrip())]
    return replace(note, text=source.unit_in(indent) * depth + note.text)


def _proven(source: Source, text: str) -> Rewritten | Unwritable:
    """The text as Python reads it."""
    try:
        after = parse(source.path, source.encode(text))
    except UnicodeEncodeError as error:
        return Unwritable(f"the rewritten text cannot be encoded ({error})")
    if isinstance(after, Unreadable):
        return Unwritable(f"the rewritten text would not parse ({after.reason})")
    if (wrong := does_not_compile(after)) and not does_not_compile(source):
        return Unwritable(f"the rewritten text would not compile ({wrong})")
    return Rewritten(text, after)
