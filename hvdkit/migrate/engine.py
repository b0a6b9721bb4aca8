"""The pipeline: read, facts, rules, merge, and the proof that the result is stable. Writes nothing."""

from __future__ import annotations

import ast
import gc
import os
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from hvdkit.errors import HvdkitError
from hvdkit.files import is_inside, read_file
from hvdkit.migrate import edits, tensorflow_edits
from hvdkit.migrate.apply import root_of
from hvdkit.migrate.blocks import fill
from hvdkit.migrate.conditions import conditions
from hvdkit.migrate.facts import Facts, Options
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.imports import import_edits
from hvdkit.migrate.indexing import index
from hvdkit.migrate.joining import joined
from hvdkit.migrate.launchers import launch_calls, launch_lines
from hvdkit.migrate.literally import ABOUT_OPTIMIZERS, AVERAGING, said_literally
from hvdkit.migrate.names import Names
from hvdkit.migrate.notebook import NotANotebook
from hvdkit.migrate.opening import open_project, reopen
from hvdkit.migrate.plan import (
    Applicability,
    Edit,
    EditConflict,
    FilePlan,
    Finding,
    Plan,
    Program,
)
from hvdkit.migrate.project import Project, Reader
from hvdkit.migrate.refusals import Refusal, applied, refused_files, stays, told
from hvdkit.migrate.room import roomy
from hvdkit.migrate.rule import Rule, findings
from hvdkit.migrate.rules import all_rules
from hvdkit.migrate.source import Source, Unreadable, does_not_compile, parse
from hvdkit.migrate.stopping import stopped_files
from hvdkit.migrate.unfolding import unfolded_files

LEFT = (Applicability.MANUAL, Applicability.REFUSED)


class RuleFailed(HvdkitError):
    """A rule raised an error of its own: a mistake in hvdkit, never in the person's program."""


@dataclass(frozen=True)
class Pass:
    """What a set of rules would do to the files, proven stable or marked as a problem file by file.

    after: facts and findings of the rewritten texts. refused: files that stay as they are, and why.
    """

    project: Project
    facts: Facts
    files: tuple[FilePlan, ...]
    refused: dict[Names, Refusal]
    after: Facts

    def forget(self) -> None:
        """Let go of the facts, of which nothing is asked any more: see Facts.forget."""
        self.facts.forget()
        if self.after is not self.facts:
            self.after.forget()


@roomy
def make_plan(paths: Sequence[Path], options: Options, reader: Reader = read_file) -> Plan:
    """Everything that migrating the paths would do."""
    with uncollected():
        return _plan(paths, options, reader)


@contextmanager
def uncollected() -> Iterator[None]:
    """Leave the garbage collector off: the trees live to the end, and it would look through them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _plan(paths: Sequence[Path], options: Options, reader: Reader) -> Plan:
    done = run_pass(paths, options, all_rules(), reader)
    programs = tuple(
        Program(
            program.entry.source.path,
            program.kind,
            tuple(sorted(names.source.path for names in program.files)),
            conditions(done.after, program.entry.source.path),
            told(done.facts, done.refused, program),
        )
        for program in programs_of(done.facts)
    )
    started = [program.entry for program in programs if program.kind == "ddp" and not program.refused]
    lines = [*launch_lines(paths, started), *launch_calls(done.facts.files, started)] if started else ()
    notes = tuple(map(str, lines))
    done.forget()
    seen = {file.path for file in done.files}  # also what was passed over at first, and then imported
    passed_over = len({*done.project.passed_over} - seen)
    tests = len({*done.project.tests} - seen)
    failed = unreadable(done.project)
    return Plan(done.files, programs, failed, passed_over, tests, notes, options.suggested)


def unreadable(project: Project) -> tuple[tuple[Path, int, str], ...]:
    """The files that could not be read: path, line and reason."""
    return tuple((u.path, u.line, u.reason) for u in project.unreadable.values())


@roomy
def run_pass(
    paths: Sequence[Path], options: Options, every: Sequence[Rule], reader: Reader = read_file
) -> Pass:
    """Run those of the rules that the options leave, and their edits, and the rules again over the result."""
    rules = [rule for rule in every if options.allows(rule.id)]
    project = open_project(paths, reader)
    root = root_of(paths)
    facts = Facts(project, options)
    if not project.uses_framework:
        # A file of the standard library imports hundreds that name none: nobody has to follow their values.
        return Pass(project, facts, tuple(_plain(names.source, ()) for names in facts.files), {}, facts)
    if options.suggested and options.allows("HVD901") and (stopped := stopped_files(facts)):
        project = reopen(project, stopped, reader)
        facts = Facts(project, options)
    findings = run_rules(facts, rules)
    while unfolded := unfolded_files(facts):
        project = reopen(project, unfolded, reader)
        facts = Facts(project, options)
        findings = run_rules(facts, rules)
    if options.allows(AVERAGING) and (
        literally := said_literally(facts, _about_optimizers(facts, every, findings))
    ):
        facts = Facts(project, options, literally, facts)
        findings = run_rules(facts, rules)
    failed: dict[Names, FilePlan] = {}
    while True:
        refused = refused_files(facts, findings, failed)
        rewritten: dict[Path, Source] = {}
        files = tuple(
            failed.get(names)
            or _file(
                facts, names, findings.get(names.source.path, []), stays(facts, names, refused), rewritten
            )
            for names in facts.files
        )
        files = tuple(_within(file, root) for file in files)
        changed = any(file.changed for file in files)
        after = _again(facts, files, rewritten, rules) if changed else (facts, findings)
        files = tuple(_stable(file, after) for file in files)
        more = {
            names: file for names, file in zip(facts.files, files) if file.problem and names not in failed
        }
        if not more:
            return Pass(project, facts, files, refused, after[0])
        failed.update(more)  # what it belongs to stays as it is, too: half a program is worse than none


def _about_optimizers(
    facts: Facts, every: Sequence[Rule], findings: dict[Path, list[Finding]]
) -> list[Finding]:
    """What the rules about optimizers say, whether the options leave them or not."""
    asked = [rule for rule in every if rule.id in ABOUT_OPTIMIZERS]
    if not all(facts.options.allows(rule.id) for rule in asked):
        findings = run_rules(facts, asked)
    return [finding for found in findings.values() for finding in found]


def run_rules(facts: Facts, rules: Iterable[Rule]) -> dict[Path, list[Finding]]:
    """Findings of all rules by file, in rule order."""
    found: dict[Path, list[Finding]] = defaultdict(list)
    for rule in rules:
        for finding in _checked(rule, facts):
            if finding not in found[finding.path]:
                found[finding.path].append(finding)
    return found


def _checked(rule: Rule, facts: Facts) -> list[Finding]:
    try:
        return findings(rule, facts)
    except RecursionError:
        raise  # the program's depth, not the rule's mistake: see room.py
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise RuleFailed(
            f"internal error in rule {rule.id}: {type(error).__name__}: {error}"
            f" ({Path(place.filename).name}, line {place.lineno})",
            "without this rule the others would make half a migration, so no file was changed",
            "please report it, with the file that brings it about (give the files one by one to find it)",
        ) from error


def _plain(source: Source, findings: Iterable[Finding]) -> FilePlan:
    """The plan of a file that stays as it is."""
    return FilePlan(source.path, source.raw, source.raw, source.encoding, tuple(findings))


def _file(
    facts: Facts, names: Names, findings: list[Finding], refused: bool, rewritten: dict[Path, Source]
) -> FilePlan:
    """The plan of one file; what it becomes is added to `rewritten`, read as a second run will read it."""
    source = names.source
    plain = _plain(source, findings)
    if refused:
        return plain
    changes = [edit for finding in applied(findings, facts.options) for edit in finding.edits]
    markers = [
        edit
        for finding in findings
        if finding.applicability in LEFT
        for edit in marker(facts, names, finding)
    ]
    if not changes and not markers:
        return plain
    try:
        if changes:
            # Imports first, so that they stand above what a rule puts below the last of them.
            changes = fill(names, [*import_edits(facts, names, changes), *changes])
        notes = [_inside(source, marker, changes) for marker in markers]
        text = source.rewritten(joined(source, [*changes, *notes]))
    except (EditConflict, NotANotebook, edits.CannotEdit) as error:
        return replace(plain, problem=f"its edits cannot be combined ({error})")
    try:
        after = parse(source.path, source.encode(text))
    except UnicodeEncodeError as error:
        return replace(plain, problem=f"the rewritten text cannot be encoded ({error})")
    if isinstance(after, Unreadable):
        return replace(plain, problem=f"the rewritten text would not parse ({after.reason})")
    if (wrong := does_not_compile(after)) and not does_not_compile(source):
        return replace(plain, problem=f"the rewritten text would not compile ({wrong})")
    rewritten[source.path] = after
    return replace(plain, after=text)


def _within(file: FilePlan, root: Path) -> FilePlan:
    """The file plan, taken back where the file leads out of what may be written."""
    if not file.changed or is_inside(file.path, root):
        return file
    what = f"it is a link to {os.path.realpath(file.path)}," if file.path.is_symlink() else "it lies"
    return replace(
        file,
        after=file.before,
        problem=f"{what} outside {root}, and would be rewritten: give a folder that holds both",
    )


def _inside(source: Source, note: Edit, changes: Iterable[Edit]) -> Edit:
    """A TODO line, indented like its statement where that goes under headers: `if hvd.rank() == 0:`."""
    here = [change for change in changes if change.start == change.end == note.start]
    depth = sum(change.text.rstrip().endswith(":") for change in here)
    indent = note.text[: len(note.text) - len(note.text.lstrip())]
    return replace(note, text=source.unit_in(indent) * depth + note.text)


def marker(facts: Facts, names: Names, finding: Finding) -> list[Edit]:
    """The TODO line above what is left to the person; none when it is there already."""
    source = names.source
    statement = _statement_at(names, finding.line_in_program)
    text = f"# hvdkit: TODO[{finding.rule}] {finding.advice or finding.message}"
    if statement is None:
        return []
    number = source.line_at(source.start(statement)) - 1
    while number >= 1 and source.line(number).lstrip().startswith("#"):
        if source.line(number).strip() == text:
            return []
        number -= 1
    try:
        return tensorflow_edits.before(facts, names, statement, [text])
    except edits.CannotEdit:
        return []


def _statement_at(names: Names, line: int) -> ast.stmt | None:
    """The innermost statement whose lines hold a line."""
    best: ast.stmt | None = None
    for node in names.parents:
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            if best is None or node.lineno >= best.lineno:
                best = node
    return best


def _again(
    before: Facts,
    files: Sequence[FilePlan],
    rewritten: dict[Path, Source],
    rules: Sequence[Rule],
) -> tuple[Facts, dict[Path, list[Finding]]]:
    """The whole pass over the rewritten texts, for stability and post-conditions."""
    texts = {file.path: file.after.encode(file.encoding) for file in files if file.changed}

    def overlay(path: Path) -> bytes:
        return texts[path] if path in texts else before.project.reader(path)

    indexed = {path: index(rewritten[path]) for path in texts}
    facts = Facts(reopen(before.project, indexed, overlay), before.options, before.literally)
    return facts, run_rules(facts, rules)


def _stable(file: FilePlan, after: tuple[Facts, dict[Path, list[Finding]]]) -> FilePlan:
    """The file plan, taken back when a second run would change the file again."""
    facts, findings = after
    if not file.changed:
        return file
    more = applied(findings.get(file.path, []), facts.options)
    if any(finding.edits for finding in more):
        first = next(finding for finding in more if finding.edits)
        return replace(
            file,
            after=file.before,
            problem=f"a second run would change it again ({first.rule}, line {first.line}); please report",
        )
    return file
