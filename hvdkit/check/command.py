"""`hvdkit check`: arguments in, findings out, and the fixes that have one right answer."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from hvdkit.arguments import CommandParser, parsed
from hvdkit.at_work import at_work
from hvdkit.check.report import FIXABLE, SARIF_LEVELS, show, summary
from hvdkit.check.rules import all_rules
from hvdkit.check.sparing import excluded, sparing
from hvdkit.collecting import uncollected
from hvdkit.errors import HvdkitError, UsageError
from hvdkit.files import read_file, read_stream
from hvdkit.migrate.config import chosen
from hvdkit.migrate.engine import passes, unopened, unreadable
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import FilePlan, Plan
from hvdkit.migrate.report.places import add_reports, put_reports, talk
from hvdkit.migrate.write.apply import check_tree, root_of
from hvdkit.migrate.write.reports import add_gate, undo_last, write_in_place
from hvdkit.printable import one_line
from hvdkit.source.project.files import Reader
from hvdkit.source.project.opening import open_project
from hvdkit.source.read.room import roomy

EXAMPLES = """\
hvdkit check train.py            what is wrong, why, and what to write instead
hvdkit check . --diff            the fixes as a diff; nothing is written
hvdkit check . --fix             write the fixes with one right answer (hvdkit check --undo restores)
hvdkit check . --select HVD81    only the rules about data; hvdkit explain HVD813 explains one
cat train.py | hvdkit check -    one file from standard input
"""
EXITS = {
    "0": "nothing found, or all of it fixed",
    "1": "something is wrong",
    "2": "hvdkit failed",
}


def parser() -> CommandParser:
    """The parser of `hvdkit check`."""
    made = CommandParser(
        "check",
        "Find what is silently wrong in scripts that use Horovod. Only --fix writes.",
        EXAMPLES,
        EXITS,
        usage="hvdkit check [options] PATH...\n       hvdkit check --undo [DIR]",
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; - reads standard input")
    what = made.add_argument_group("what to do")
    what.add_argument(
        "--fix", action="store_true", help="write the fixes, and a TODO above what is left to you"
    )
    what.add_argument("--undo", action="store_true", help="restore every byte that the last --fix changed")
    how = made.add_argument_group("what to look for")
    how.add_argument(
        "--suggested", action="store_true", default=None, help="also fixes that are probably intended"
    )
    how.add_argument(
        "--select", action="append", default=[], metavar="RULES", help="only these (HVD81,HVD823)"
    )
    how.add_argument("--ignore", action="append", default=[], metavar="RULES", help="all but these")
    add_gate(made)
    out = made.add_argument_group("what to print")
    add_reports(out, "the findings")
    out.add_argument("--diff", action="store_true", help="show the fixes as a diff")
    return made


def main(argv: Sequence[str]) -> int:
    """Run `hvdkit check` and return its exit code."""
    args = parsed(parser(), argv[1:])
    if args.undo:
        undo_last(args.paths)
        return 0
    if not args.paths:
        raise UsageError("no path was given", "", "hvdkit check train.py, or hvdkit check . for a project")
    stdin = args.paths == ["-"]
    if stdin and args.fix:
        raise UsageError("--fix cannot write a file when reading standard input", "", "give the file's path")
    paths = [Path.cwd() / "<stdin>.py"] if stdin else [Path(os.path.abspath(path)) for path in args.paths]
    for path in paths:
        if not stdin and not path.exists():
            raise UsageError(f"{one_line(str(path))} does not exist", "", "check the path")
    if args.fix:
        check_tree(root_of(paths), args.allow_dirty, args.allow_no_vcs)
    options = chosen(args, paths[0], "check")
    failures: dict[str, HvdkitError] = {}
    with at_work("check"):
        plan = make_plan(paths, options, _stdin(paths[0]) if stdin else read_file, failures)
    _report(plan, options, args)
    if args.fix:
        write_in_place(plan, paths, "hvdkit check", talk(args))
    for failure in failures.values():
        print(f"hvdkit check: {failure}", file=sys.stderr)
    return 2 if failures else int(bool(_wrong(plan, options, args.fix) or plan.unreadable))


@roomy
def make_plan(
    paths: Sequence[Path],
    options: Options,
    reader: Reader = read_file,
    failures: dict[str, HvdkitError] | None = None,
) -> Plan:
    """Everything that is wrong under the paths, and the files with the fixes carried out.

    failures: gets the mistakes of rules, by their ids; the other rules go on.
    """
    failed = {} if failures is None else failures
    found: list[FilePlan] = []
    with uncollected():
        project = open_project(paths, reader)
        for done in passes(project, root_of(paths), options, lambda _: sparing(all_rules(), failed)):
            found += done.files
    files = sorted((file for file in found if not excluded(options, file.path)), key=lambda file: file.path)
    unread = tuple(each for each in unreadable(project) if not excluded(options, each[0]))
    return Plan(tuple(files), (), unread, *unopened(project, found))


def _stdin(path: Path) -> Reader:
    try:
        raw = read_stream(sys.stdin.buffer, "standard input")
    except OSError as error:
        raise HvdkitError(f"standard input: {error.strerror}", "", "give a Python file") from error

    def read(asked: Path) -> bytes:
        return raw if asked == path else read_file(asked)

    return read


def _wrong(plan: Plan, options: Options, fixed: bool) -> int:
    """How many findings are still true once the run is over."""
    if not fixed:
        return len(plan.findings)
    written = {file.path for file in plan.changed}
    done = [f for f in plan.findings if f.applicability in FIXABLE[options.suggested] and f.path in written]
    return len(plan.findings) - len(done)


def _report(plan: Plan, options: Options, args: argparse.Namespace) -> None:
    from hvdkit.migrate.report.data import as_json
    from hvdkit.migrate.report.html import findings_as_html
    from hvdkit.migrate.report.sarif import as_sarif

    put_reports(
        args,
        plan,
        lambda: as_json(plan),
        lambda: as_sarif(plan, Path.cwd(), all_rules(), SARIF_LEVELS),
        lambda: findings_as_html(plan, summary(plan, options)),
    )
    if talk(args) is sys.stdout:
        show(plan, options, args.diff)
