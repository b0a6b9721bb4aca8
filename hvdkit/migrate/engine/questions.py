"""What `hvdkit migrate --interactive` asks: each change of a plan, with those that it belongs to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path

from hvdkit.collecting import uncollected
from hvdkit.dataclass import dataclass
from hvdkit.files import read_file
from hvdkit.migrate.catalog.left_out import is_whole, key
from hvdkit.migrate.catalog.refusals import applied
from hvdkit.migrate.edits.blocks import fill
from hvdkit.migrate.edits.joining import joined
from hvdkit.migrate.engine.passes import Pass, passes
from hvdkit.migrate.facts import Facts, Options
from hvdkit.migrate.facts.programs.programs import programs_of, programs_with
from hvdkit.migrate.options import Left
from hvdkit.migrate.plan import FilePlan, Finding, Reported
from hvdkit.migrate.report.locations import reported
from hvdkit.migrate.rules import rules_for
from hvdkit.migrate.write.apply import root_of
from hvdkit.source.edits import OWN_LINES, apply_edits
from hvdkit.source.index.names import Names
from hvdkit.source.project.files import Reader
from hvdkit.source.project.opening import open_project
from hvdkit.source.read.room import roomy


@dataclass(frozen=True)
class Question:
    """Changes that are accepted, or left, together. files: the texts without and with them, and nothing else.

    left: how options name them. stays: the files of the programs that stay as they are where this is left.
    """

    findings: tuple[Reported, ...]
    files: tuple[FilePlan, ...]
    left: frozenset[Left]
    stays: frozenset[Path]

    @property
    def path(self) -> Path:
        """The file that it is asked for."""
        return self.files[0].path

    @property
    def place(self) -> tuple[int, int]:
        """Where it begins in that file: its cell and line."""
        return self.findings[0].cell, self.findings[0].line


@roomy
def make_questions(paths: Sequence[Path], options: Options, reader: Reader = read_file) -> list[Question]:
    """The questions of a plan: first what programs are not migrated without, then the rest, file by file."""
    questions: list[Question] = []
    with uncollected():
        for done in passes(open_project(paths, reader), root_of(paths), options, rules_for):
            found = [
                finding
                for file in done.files
                for finding in applied(done.findings.get(file.path, ()), options)
                if file.changed and finding.edits
            ]
            questions += (_question(done, group) for group in _groups(done.facts, found))
    return sorted(questions, key=lambda asked: (not asked.stays, asked.path, asked.place))


def _question(done: Pass, group: Iterable[Finding]) -> Question:
    files = done.facts.project.files
    by_file: dict[Names, list[Finding]] = defaultdict(list)
    for finding in sorted(group, key=lambda each: (each.place.path, getattr(each.place.node, "lineno", 1))):
        by_file[files[finding.place.path]].append(finding)
    stays: set[Path] = set()
    if any(is_whole(finding) for found in by_file.values() for finding in found):
        programs = [program.files for program in programs_of(done.facts)]
        stays.update(_paths(names for each in programs if not each.isdisjoint(by_file) for names in each))
    return Question(
        tuple(each for names, found in by_file.items() for each in reported(names.source, found)),
        tuple(_alone(names, found) for names, found in by_file.items()),
        frozenset(
            key(each.rule, names, each.place.node) for names, found in by_file.items() for each in found
        ),
        frozenset(stays),
    )


def _paths(files: Iterable[Names]) -> set[Path]:
    return {names.source.path for names in files}


def _alone(names: Names, found: Iterable[Finding]) -> FilePlan:
    """A file with some changes and no others."""
    source = names.source
    changes = fill(names, [edit for finding in found for edit in finding.edits])
    text = apply_edits(source.text, joined(source, changes))
    return FilePlan(source.path, source.text, text, source.encoding)


def _groups(facts: Facts, found: Iterable[Finding]) -> list[list[Finding]]:
    """The findings, those together that have something in common."""
    groups: list[tuple[set[Hashable], list[Finding]]] = []
    for finding in found:
        shared = set(_shared(facts, finding))
        together = [group for group in groups if not shared.isdisjoint(group[0])]
        groups = [group for group in groups if shared.isdisjoint(group[0])]
        every = [each for _, group in together for each in group]
        groups.append((shared.union(*(common for common, _ in together)), [*every, finding]))
    return [group for _, group in groups]


def _shared(facts: Facts, finding: Finding) -> Iterator[Hashable]:
    """What findings have in common that cannot be parted: lines, a place, the whole of a program."""
    path = finding.place.path
    names = facts.project.files[path]
    source = names.source
    yield key(finding.rule, names, finding.place.node)
    for edit in finding.edits:
        if edit.inserts and edit.slot in OWN_LINES:
            yield path, "at", edit.start
        else:
            last = source.line_at(max(edit.start, edit.end - 1))
            yield from ((path, "line", number) for number in range(source.line_at(edit.start), last + 1))
    if is_whole(finding):
        yield from (("program", program.entry) for program in programs_with(facts, names))
