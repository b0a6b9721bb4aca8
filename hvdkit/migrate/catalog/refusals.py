"""Which files stay as they are because a program is refused, and what a person is told of it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts import Facts, Options
from hvdkit.migrate.facts.programs.programs import ProgramFacts, imported_by, programs_of, programs_with
from hvdkit.migrate.plan import WAITING, Applicability, FilePlan, Finding
from hvdkit.shell import word
from hvdkit.source.index.names import Names


@dataclass(frozen=True)
class Refusal:
    """Why a file stays as it is: a reason, and the file that it was found in."""

    reason: str
    found_in: Names


def refused_files(
    facts: Facts, findings: dict[Path, list[Finding]], failed: dict[Names, FilePlan]
) -> dict[Names, Refusal]:
    """Files that must stay as they are: a refused program's, and those sharing a changed helper with it.

    failed: files that cannot be rewritten, though their findings say how.
    """
    refused = {
        names: Refusal(f"{file.path.name} cannot be rewritten", names) for names, file in failed.items()
    }
    for names in facts.files:
        for finding in findings.get(names.source.path, []):
            if finding.applicability is Applicability.REFUSED:
                reason = f"{finding.rule} at {names.place(finding.place.node)}"
                refused.setdefault(names, Refusal(reason, names))
    parts = [(program.entry, program.files) for program in programs_of(facts)] + _in_no_program(facts)
    while True:
        size = len(refused)
        for entry, together in parts:
            files = [names for names in facts.files if names in together]
            refusal = next((refused[names] for names in files if names in refused), None)
            if refusal is None:
                continue
            for names in files:
                if names is entry or applied(findings.get(names.source.path, []), facts.options):
                    refused.setdefault(names, refusal)
        if len(refused) == size:
            return refused


def _in_no_program(facts: Facts) -> list[tuple[Names, frozenset[Names]]]:
    """The files that only a ring of files imports, as a package's __init__.py that registers them.

    Each with what it imports, without which it does not run.
    """
    known = frozenset().union(*(program.files for program in programs_of(facts)))
    return [(names, frozenset(imported_by(facts, names))) for names in facts.files if names not in known]


def applied(findings: Iterable[Finding], options: Options) -> list[Finding]:
    """The findings whose edits this run carries out."""
    wanted = {Applicability.SAFE} | set(WAITING if options.suggested else ())
    return [finding for finding in findings if finding.applicability in wanted]


def stays(facts: Facts, names: Names, refused: dict[Names, Refusal]) -> bool:
    """Whether a file is not touched at all: refused itself, or all programs that train with it are."""
    programs = programs_with(facts, names)
    programs = [program for program in programs if program.kind != "none"] or programs
    return names in refused or (bool(programs) and all(program.entry in refused for program in programs))


def told(facts: Facts, refused: dict[Names, Refusal], program: ProgramFacts) -> str:
    """Why a program is refused, and what to type where only another one has to be that shares its files."""
    refusals = [refused[names] for names in facts.files if names in refused and names in program.files]
    if not refusals:
        return ""
    own = next((refusal for refusal in refusals if refusal.found_in in program.files), None)
    if own is not None:
        return own.reason
    refusal = refusals[0]
    others = (other.entry for other in programs_with(facts, refusal.found_in))
    other = next((entry.source.path.name for entry in others), refusal.found_in.source.path.name)
    alone = f"hvdkit migrate {word(os.path.relpath(program.entry.source.path))}"
    return f"{refusal.reason}, in {other}, which shares files with it: `{alone}` changes them for both"
