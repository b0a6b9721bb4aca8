"""`hvdkit migrate`: arguments in, plan out, and what to do with it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from hvdkit.arguments import CommandParser, parsed
from hvdkit.at_work import at_work
from hvdkit.errors import HvdkitError, UsageError
from hvdkit.files import read_file, read_stream
from hvdkit.migrate.config import TARGETS, chosen
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.options import DDP
from hvdkit.migrate.plan import Plan
from hvdkit.migrate.report.places import add_reports, put_reports, talk
from hvdkit.migrate.write.apply import check_tree, root_of, write_gate
from hvdkit.migrate.write.reports import add_gate, undo_last, write_elsewhere, write_in_place
from hvdkit.printable import one_line
from hvdkit.shell import argument, word
from hvdkit.verify.options import add_run_options, request_fields, split_arguments

if TYPE_CHECKING:
    from hvdkit.verify.judge import Verification

EXAMPLES = """\
hvdkit migrate train.py                    show the diff and what is left to you; writes nothing
hvdkit migrate . --write                   rewrite a project in place (hvdkit migrate --undo restores it)
hvdkit migrate train.py --interactive      accept or leave each change, as in git add -p, then write
hvdkit migrate train.py --output migrated/  write the migrated files elsewhere
hvdkit migrate train.py --target hvdkit    the shorter wrapper form (import hvdkit.torch as hvd)
hvdkit migrate train.py --target ddp       from Horovod to DistributedDataParallel and torchrun
hvdkit migrate train.py --why files        what decides that rank 0 alone writes files, step by step
hvdkit migrate . --check                   exit 1 if anything would change or is left to you, for CI
hvdkit migrate train.py --write --verify   run both versions, write only if every weight agrees
hvdkit migrate train.py --verify -- --epochs 1   the script's own arguments after `--`
cat train.py | hvdkit migrate -            one file from standard input to standard output
"""
EXITS = {
    "0": "done, nothing is left to you",
    "1": "something is left (with --check: or would change)",
    "2": "hvdkit failed",
    "3": "--verify: they agree in all that was checked, and the verdict says what was not",
}


def parser() -> CommandParser:
    """The parser of `hvdkit migrate`."""
    made = CommandParser(
        "migrate",
        "Rewrite PyTorch and TensorFlow training scripts to Horovod. Without --write nothing is written.",
        EXAMPLES,
        EXITS,
        usage="hvdkit migrate [options] PATH... [-- SCRIPT ARGS]\n       hvdkit migrate --undo [DIR]",
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; - reads standard input")
    what = made.add_argument_group("what to do")
    what.add_argument("--write", action="store_true", help="write the changes in place")
    what.add_argument(
        "-i", "--interactive", action="store_true", help="accept or leave each change, then write as --write"
    )
    what.add_argument("--output", type=Path, metavar="DIR", help="write the migrated files under DIR instead")
    what.add_argument("--force", action="store_true", help="let --output and reports replace other files")
    what.add_argument("--check", action="store_true", help="write nothing; exit 1 if anything would change")
    what.add_argument(
        "--verify",
        action="store_true",
        help="run the first PATH unchanged and migrated, and write only if they compute the same; the "
        "script's own arguments after --",
    )
    what.add_argument(
        "--accept-unchecked",
        action="store_true",
        help="with --verify: also write what agrees where the verdict says that not all was checked",
    )
    what.add_argument("--undo", action="store_true", help="restore every byte that the last --write changed")
    how = made.add_argument_group("how to rewrite")
    how.add_argument(
        "--target",
        choices=TARGETS,
        help="plain horovod.torch (default), the wrapper hvdkit.torch, or back from Horovod to ddp",
    )
    how.add_argument(
        "--suggested", action="store_true", default=None, help="also apply changes that alter results"
    )
    how.add_argument(
        "--select", action="append", default=[], metavar="RULES", help="only these (HVD2,HVD301)"
    )
    how.add_argument("--ignore", action="append", default=[], metavar="RULES", help="all but these")
    add_run_options(made.add_argument_group("how to run with --verify, as hvdkit verify does"))
    add_gate(made)
    out = made.add_argument_group("what to print")
    add_reports(out, "the plan")
    out.add_argument(
        "-q", "--quiet", action="store_true", help="print only what is left to you, and the verdicts"
    )
    out.add_argument(
        "--no-diff", action="store_true", help="show the whole table of conditions in the place of the diff"
    )
    out.add_argument(
        "--table", action="store_true", help="also show the conditions that hold, with the evidence"
    )
    out.add_argument(
        "--why",
        default="",
        metavar="ROW",
        help="show what decides a condition, step by step; ROW: a part of its name",
    )
    return made


def main(argv: Sequence[str]) -> int:
    """Run `hvdkit migrate` and return its exit code."""
    own, script_arguments = split_arguments(list(argv[1:]))
    args = parsed(parser(), own)
    if not args.paths and not args.verify:  # `hvdkit migrate -- -rf.py`
        args.paths, script_arguments = list(script_arguments), ()
    if args.undo:
        undo_last(args.paths)
        return 0
    if not args.paths:
        raise UsageError(
            "no path was given", "", "hvdkit migrate train.py, or hvdkit migrate . for a project"
        )
    if script_arguments and not args.verify:
        raise UsageError("arguments after `--` are for the script, and no script is run", "", "add --verify")
    if args.verify and (args.check or args.paths == ["-"]):
        raise UsageError(
            "--verify needs a script to run, and --check and - do not provide one",
            "",
            "leave one of them out",
        )
    if args.force and not (args.output or args.json or args.sarif or args.html):
        raise UsageError(
            "--force is for --output and reports", "", "--allow-dirty and --allow-no-vcs are for --write"
        )
    start = Path.cwd() if args.paths == ["-"] else Path(os.path.abspath(args.paths[0]))
    options = chosen(args, start, "migrate")
    if args.paths == ["-"]:
        return _stdin(options, args)
    if sum(map(bool, (args.write, args.interactive, args.output, args.check))) > 1:
        raise UsageError(
            "--write, --interactive, --output and --check exclude each other", "", "give one of them"
        )
    if args.accept_unchecked and not args.verify:
        raise UsageError("--accept-unchecked is for --verify alone", "", "add --verify")
    paths = [Path(os.path.abspath(path)) for path in args.paths]
    for path in paths:
        if not path.exists():
            raise UsageError(f"{one_line(str(path))} does not exist", "", "check the path")
    make = _planned
    if args.interactive and options.target == DDP:
        raise UsageError(
            "--interactive leaves single changes, and those of --target ddp depend on each other",
            "",
            "show them without --interactive, then pass --write",
        )
    if args.interactive:
        from hvdkit.migrate.interactive import check_terminal, chosen_plan

        check_terminal(args)
        make = chosen_plan
    if args.write or args.interactive:
        check_tree(root_of(paths), args.allow_dirty, args.allow_no_vcs)
    result = None
    if not args.verify:
        plan = make(paths, options)
    else:
        from hvdkit.migrate.verified import script_to_run, verified  # all of verify, slow to import

        script = script_to_run(paths)
        plan = make(paths, options)
        if plan.changed:
            back = options.target == DDP
            result = verified(plan, script, script_arguments, request_fields(args), back)
        else:
            print("--verify: nothing is rewritten, so there is nothing to run", file=sys.stderr)
    _check_row(plan, args.why)
    _report(plan, options, args, result, partial(_next, plan, paths, args, own))
    refused = _refused(result, args)
    if refused:
        return refused
    if args.write or args.interactive:
        write_in_place(plan, paths, "hvdkit migrate", talk(args))
    elif args.output:
        _output(plan, paths, args)
    return int(plan.leaves or (args.check and bool(plan.changed)))


def _next(plan: Plan, paths: Sequence[Path], args: argparse.Namespace, own: Sequence[str]) -> list[str]:
    """The two commands to type after a plan that was only shown, with what they do."""
    if not plan.changed or any((args.write, args.interactive, args.output, args.check, args.verify)):
        return []
    scripts = [] if any(path.is_file() for path in paths) else [word(os.path.relpath(_first_changed(plan)))]
    shown = ("--no-diff", "--table", *(("--why", args.why, f"--why={args.why}") if args.why else ()))
    typed = [argument(each) for each in own if each not in shown]
    compare = " ".join([*scripts, *typed, "--verify"])
    write = " ".join([*typed, "--write", *write_gate(paths)])
    return [
        f"`hvdkit migrate {compare}`: run both for a few steps, and compare them",
        f"`hvdkit migrate {write}`: write it; `hvdkit migrate --undo` restores the files",
    ]


def _check_row(plan: Plan, asked: str) -> None:
    rows = dict.fromkeys(row.name for program in plan.programs for row in program.conditions)
    if asked and not any(row.is_called(asked) for program in plan.programs for row in program.conditions):
        raise UsageError(
            f"no condition has {one_line(asked)!r} in its name",
            f"there are: {', '.join(rows)}" if rows else "no program here has conditions",
            "give a part of a name that --table shows",
        )


def _first_changed(plan: Plan) -> Path:
    """The script of the first program that is rewritten."""
    changed = {file.path for file in plan.changed}
    entries = [program.entry for program in plan.programs if changed.intersection(program.files)]
    return min(entries or changed)


def _planned(paths: Sequence[Path], options: Options) -> Plan:
    with at_work("migrate"):
        return make_plan(paths, options)


def _refused(result: Verification | None, args: argparse.Namespace) -> int:
    """The exit code with which nothing is written, once that is printed; 0 where the result allows it."""
    if result is None or result.code == 0:
        return 0
    if not result.holds:
        print("nothing was written: the script and its migration do not compute the same", file=sys.stderr)
    elif args.accept_unchecked:
        return 0
    else:
        print(
            "nothing was written: they agree, but not all was checked; --accept-unchecked accepts that",
            file=sys.stderr,
        )
    return result.code


def _report(
    plan: Plan,
    options: Options,
    args: argparse.Namespace,
    result: Verification | None,
    following: Callable[[], Sequence[str]],
) -> None:
    _put_reports(plan, options, args, result)
    if talk(args) is not sys.stdout:
        return
    from hvdkit.migrate.report.text import show, show_quietly

    if args.quiet:
        show_quietly(plan)
    else:
        show(plan, options, not args.no_diff, args.table or args.no_diff, following())
    if result:
        from hvdkit.verify.report import print_result

        print_result(result)


def _put_reports(plan: Plan, options: Options, args: argparse.Namespace, result: Verification | None) -> None:
    from hvdkit.migrate.back import all_rules as back_rules
    from hvdkit.migrate.report.html import as_html
    from hvdkit.migrate.report.sarif import as_sarif

    put_reports(
        args,
        plan,
        lambda: _data(plan, result),
        lambda: as_sarif(plan, Path.cwd(), back_rules() if options.target == DDP else ()),
        lambda: as_html(plan),
    )


def _data(plan: Plan, result: Verification | None) -> dict[str, Any]:
    from hvdkit.migrate.report.data import as_json

    data = as_json(plan)
    if result:
        from hvdkit.verify.report import as_json as verification_as_json

        data["verification"] = verification_as_json(result)
    return data


def _output(plan: Plan, paths: Sequence[Path], args: argparse.Namespace) -> None:
    base = Path(os.path.commonpath([p if p.is_dir() else p.parent for p in paths]))
    outside = next((file.path for file in plan.changed if not file.path.is_relative_to(base)), None)
    if outside is not None:
        both = os.path.relpath(Path(os.path.commonpath([base, outside])))
        raise UsageError(
            f"{os.path.relpath(outside)} would be rewritten, too, and is outside {os.path.relpath(base)}",
            "the files under --output would not run without it; nothing was written",
            f"pass the folder that contains both: {word(both)}",
        )
    folder = Path(os.path.abspath(args.output))
    inside = {
        folder / file.path.relative_to(base): file for file in plan.files if file.path.is_relative_to(base)
    }
    wanted = {path: file.after.encode(file.encoding) for path, file in inside.items()}
    sources = {path: file.path for path, file in inside.items()}
    write_elsewhere(wanted, folder, args.force, "hvdkit migrate", talk(args), sources)


def _stdin(options: Options, args: argparse.Namespace) -> int:
    """Standard input to standard output; the report goes to standard error.

    No text goes there where a report for machines does, or where --check asks for an exit code alone.
    """
    given = [name for name in ("write", "interactive", "output", "table", "why") if getattr(args, name)]
    if given:
        raise UsageError(
            f"--{given[0]} has no file to work on when standard input is read",
            "what is read is written to standard output",
            "give the file's path, or: cat train.py | hvdkit migrate - > migrated.py",
        )
    try:
        raw = read_stream(sys.stdin.buffer, "standard input")
    except OSError as error:
        raise HvdkitError(f"standard input: {error.strerror}", "", "give a Python file") from error
    path = Path.cwd() / "<stdin>.py"
    plan = make_plan([path], options, lambda asked: raw if asked == path else read_file(asked))
    for unreadable, line, reason in plan.unreadable:
        if unreadable == path:
            raise HvdkitError(f"standard input, line {line}: {reason}", "", "give a Python file")
    _put_reports(plan, options, args, None)
    for file in plan.files:
        if file.path == path and not args.check and talk(args) is sys.stdout:
            sys.stdout.buffer.write(file.after.encode(file.encoding))
    for finding in (*plan.left, *plan.needed, *plan.choices):
        print(f"line {finding.line}: {finding.rule} {finding.message}", file=sys.stderr)
    for condition in plan.open:
        line = condition.spots[0].line
        print(f"line {line}: open: {condition.name}: {condition.detail}", file=sys.stderr)
    return int(plan.leaves or (args.check and bool(plan.changed)))
