"""One pass over a project: the stages, the new texts, and the proof that a second run changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Callable

from hvdkit.dataclass import dataclass
from hvdkit.files import is_gits, is_inside, read_file
from hvdkit.migrate.catalog.refusals import Refusal, applied, refused_files, stays
from hvdkit.migrate.catalog.rule import Rule
from hvdkit.migrate.engine.checking import run_rules
from hvdkit.migrate.engine.rewriting import Rewritten, Unwritable, rewrite
from hvdkit.migrate.engine.stages import Run, prepared
from hvdkit.migrate.engine.unfollowed import without_unfollowed
from hvdkit.migrate.facts import Facts, Options
from hvdkit.migrate.plan import FilePlan, Finding
from hvdkit.migrate.report.locations import reported
from hvdkit.migrate.write.apply import root_of
from hvdkit.source.index.indexing import index
from hvdkit.source.index.names import Names
from hvdkit.source.project.files import Project, Reader
from hvdkit.source.project.opening import open_project, reopen
from hvdkit.source.project.parts import parts
from hvdkit.source.read.room import TooManyQuestions, roomy

ROUNDS = 2  # in which what rules find in their own result is carried out


@dataclass(frozen=True)
class Pass:
    """What a set of rules would do to the files, proven stable or marked as a problem file by file.

    findings: what the rules found, by file. after: facts of the rewritten texts. refused: files that stay as
    they are, and why.
    """

    project: Project
    facts: Facts
    findings: dict[Path, list[Finding]]
    files: tuple[FilePlan, ...]
    refused: dict[Names, Refusal]
    after: Facts

    def forget(self) -> None:
        """Let go of the facts and the runs, of which nothing is asked any more: see Facts.forget."""
        self.project.records.clear()  # a run knows the project that it looks modules up in
        self.facts.forget()
        if self.after is not self.facts:
            self.after.forget()


@dataclass(frozen=True)
class _Attempt:
    """The files as they would be written, with those that cannot be held back. rewritten: as read again."""

    files: dict[Names, FilePlan]
    rewritten: dict[Path, Rewritten]
    refused: dict[Names, Refusal]


@dataclass(frozen=True)
class _Again:
    """What the rules find in the rewritten texts."""

    facts: Facts
    findings: dict[Path, list[Finding]]


Rules = Callable[[Project], Sequence[Rule]]


@roomy
def run_pass(paths: Sequence[Path], options: Options, rules_for: Rules, reader: Reader = read_file) -> Pass:
    """Run the rules for a project that the options leave, with their edits, and again over the result.

    rules_for: asked only for a project that uses a framework.
    """
    return _followed(open_project(paths, reader), root_of(paths), options, rules_for)


def passes(project: Project, root: Path, options: Options, rules_for: Rules) -> Iterator[Pass]:
    """The same for each part of a project; each pass is forgotten when the next one is asked for.

    root: the folder in which files may be written. The project gets the files that could not be followed.
    """
    for part in parts(project):
        done = _followed(part, root, options, rules_for)
        project.unreadable.update(done.project.unreadable)
        yield done
        done.forget()


def _followed(project: Project, root: Path, options: Options, rules_for: Rules) -> Pass:
    while True:
        try:
            return _passed(project, root, options, rules_for)
        except (RecursionError, TooManyQuestions) as error:
            project = without_unfollowed(project, error, project.reader)


def _passed(project: Project, root: Path, options: Options, rules_for: Rules) -> Pass:
    """The pass over the files that are left. Raises: RecursionError where a chain of values is too long."""
    facts = Facts(project, options)
    if not project.uses_framework:
        # A file of the standard library imports hundreds that name none: nobody has to follow their values.
        return Pass(project, facts, {}, tuple(_plain(names, ()) for names in facts.files), {}, facts)
    return _held_back(prepared(Run(facts, rules_for(project), project.reader)), root)


def _held_back(run: Run, root: Path) -> Pass:
    """The pass, with the files that cannot be rewritten left alone, and with them all that they belong to.

    Half a program is worse than none: the texts are made again without these files until no more fail.
    """
    failed: dict[Names, FilePlan] = {}
    while True:
        attempt = _attempt(run, root, failed)
        again = _settled(run, attempt)
        files = {names: _stable(file, again) for names, file in attempt.files.items()}
        more = {names: file for names, file in files.items() if file.problem and names not in failed}
        if not more:
            done = tuple(files.values())
            return Pass(run.facts.project, run.facts, run.findings, done, attempt.refused, again.facts)
        failed.update(more)


def _attempt(run: Run, root: Path, failed: dict[Names, FilePlan]) -> _Attempt:
    """The new texts of all files that no refusal and no failure holds back."""
    facts = run.facts
    attempt = _Attempt({}, {}, refused_files(facts, run.findings, failed))
    for names in facts.files:
        findings = run.findings.get(names.source.path, [])
        plain = failed.get(names) or _plain(names, findings)
        attempt.files[names] = plain
        if names in failed or stays(facts, names, attempt.refused):
            continue
        made = rewrite(facts, names, findings)
        if isinstance(made, Unwritable):
            attempt.files[names] = replace(plain, problem=made.problem)
        elif made is not None and not is_inside(plain.path, root):
            attempt.files[names] = replace(plain, problem=_outside(plain.path, root))
        elif made is not None and is_gits(plain.path, root):
            attempt.files[names] = replace(plain, problem="it is a file of git's own, and would be rewritten")
        elif made is not None:
            attempt.files[names] = replace(plain, after=made.text)
            attempt.rewritten[plain.path] = made
    return attempt


def _outside(path: Path, root: Path) -> str:
    """Why a file that leads out of what may be written is left."""
    what = f"it is a link to {os.path.realpath(path)}," if path.is_symlink() else "it lies"
    return f"{what} outside {root}, and would be rewritten: pass a folder that contains both"


def _plain(names: Names, findings: Sequence[Finding]) -> FilePlan:
    """The plan of a file that stays as it is."""
    source = names.source
    return FilePlan(source.path, source.raw, source.raw, source.encoding, reported(source, findings))


def _again(run: Run, attempt: _Attempt) -> _Again:
    """The rules over the rewritten texts, for stability and post-conditions."""
    files = [file for file in attempt.files.values() if file.changed]
    if not files:
        return _Again(run.facts, run.findings)
    texts = {file.path: file.after.encode(file.encoding) for file in files}
    before = run.facts

    def overlay(path: Path) -> bytes:
        return texts[path] if path in texts else before.project.reader(path)

    indexed = {path: index(attempt.rewritten[path].source) for path in texts}
    options = replace(before.options, left=frozenset())  # names lines of the texts before; markers are there
    facts = Facts(reopen(before.project, indexed, overlay), options, before.literally)
    return _Again(facts, run_rules(facts, run.rules))


def _settled(run: Run, attempt: _Attempt) -> _Again:
    """What the rules find once what they find in their own result is carried out, too.

    A program that starts Horovod only now, because code that it shares asks for ranks, has writers to guard.
    """
    again = _again(run, attempt)
    for _ in range(ROUNDS):
        more = {
            names: found
            for names, file in attempt.files.items()
            if file.changed and (found := _edited(again, file.path))
        }
        if not more:
            break
        for names, found in more.items():
            file = attempt.files[names]
            made = rewrite(again.facts, again.facts.project.files[file.path], found)
            if made is None or isinstance(made, Unwritable) or made.text == file.before:
                return again  # reported as unstable
            attempt.files[names] = replace(file, after=made.text)
            attempt.rewritten[file.path] = made
        again = _again(run, attempt)
    return again


def _edited(again: _Again, path: Path) -> list[Finding]:
    """What would change a rewritten file once more."""
    found = applied(again.findings.get(path, []), again.facts.options)
    return [finding for finding in found if finding.edits]


def _stable(file: FilePlan, again: _Again) -> FilePlan:
    """The file plan, taken back when a second run would change the file again."""
    first = next(iter(_edited(again, file.path)), None) if file.changed else None
    if first is None:
        return file
    line = again.facts.project.files[file.path].line(first.place.node)
    problem = f"a second run would change it again ({first.rule}, line {line}); please report"
    return replace(file, after=file.before, problem=problem)
