"""The plan that every output prints, from what a pass found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from hvdkit.collecting import uncollected
from hvdkit.files import read_file
from hvdkit.migrate.back import all_rules as back_rules
from hvdkit.migrate.catalog.refusals import told
from hvdkit.migrate.conditions.ddp_table import conditions_of_ddp
from hvdkit.migrate.conditions.table import conditions
from hvdkit.migrate.engine.back_launchers import back_lines
from hvdkit.migrate.engine.launchers import launch_calls, launch_lines
from hvdkit.migrate.engine.passes import Pass, passes
from hvdkit.migrate.facts import Options
from hvdkit.migrate.facts.launch.unchanged import command_unchanged
from hvdkit.migrate.facts.optimizers.horovod_wraps import uses_horovod
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_of
from hvdkit.migrate.options import DDP
from hvdkit.migrate.plan import FilePlan, Plan, Program
from hvdkit.migrate.rules import rules_for
from hvdkit.migrate.write.apply import root_of
from hvdkit.source.index.names import Names
from hvdkit.source.project.files import Project, Reader
from hvdkit.source.project.opening import open_project
from hvdkit.source.read.room import roomy


@roomy
def make_plan(paths: Sequence[Path], options: Options, reader: Reader = read_file) -> Plan:
    """Everything that migrating the paths would do."""
    rules = (lambda _: back_rules()) if options.target == DDP else rules_for
    files: list[FilePlan] = []
    programs: list[Program] = []
    code: list[Names] = []
    with uncollected():
        project = open_project(paths, reader)
        for done in passes(project, root_of(paths), options, rules):
            files += done.files
            programs += map(partial(_program, done), programs_of(done.facts))
            code += done.facts.files
    files.sort(key=lambda file: file.path)
    programs.sort(key=lambda program: program.entry)
    code.sort(key=lambda names: names.source.path)
    return Plan(
        tuple(files),
        tuple(programs),
        unreadable(project),
        *unopened(project, files),
        _notes(paths, options, programs, code),
        options.suggested,
    )


def unopened(project: Project, files: Iterable[FilePlan]) -> tuple[int, int]:
    """How many files were passed over, and how many unit tests, that nothing imported in the end."""
    seen = {file.path for file in files}
    return len({*project.passed_over} - seen), len({*project.tests} - seen)


def unreadable(project: Project) -> tuple[tuple[Path, int, str], ...]:
    """The files that could not be read: path, line and reason."""
    return tuple((u.path, u.line, u.reason) for u in project.unreadable.values())


def _program(done: Pass, program: ProgramFacts) -> Program:
    """What becomes of a program; a file that nobody starts is none, whatever it shares with others."""
    path = program.entry.source.path
    back = done.facts.options.target == DDP
    rows = (conditions_of_ddp if back else conditions)(done.after, path, done.facts)
    refused = told(done.facts, done.refused, program)
    kind = program.kind if rows or refused else "none"
    if back and kind != "none" and uses_horovod(done.facts, program):
        kind = "horovod"  # by the file as it is: the text that was read has DDP already
    files = tuple(sorted(names.source.path for names in program.files))
    return Program(
        path, kind, files, rows, refused, command_unchanged(done.facts, program) if refused else ""
    )


def _notes(
    paths: Sequence[Path], options: Options, programs: Sequence[Program], code: Sequence[Names]
) -> tuple[str, ...]:
    """Command lines to change by hand: they start a program that is rewritten."""
    back = options.target == DDP
    kind = "horovod" if back else "ddp"
    started = [program.entry for program in programs if program.kind == kind and not program.refused]
    if not started:
        return ()
    if back:
        return tuple(map(str, back_lines(paths, started)))
    return tuple(map(str, (*launch_lines(paths, started), *launch_calls(code, started))))
