"""`hvdkit migrate`: arguments in, plan out, and what to do with it."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from hvdkit.errors import HvdkitError, UsageError
from hvdkit.migrate.config import configured
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Plan

EXAMPLES = """\
examples:
  hvdkit migrate train.py                    show the diff and what is left to you; writes nothing
  hvdkit migrate . --write                   rewrite a project in place (hvdkit migrate --undo takes it back)
  hvdkit migrate train.py --output horovod/  write the migrated files elsewhere
  hvdkit migrate train.py --target hvdkit    the shorter wrapper form (import hvdkit.torch as hvd)
  hvdkit migrate . --check                   exit 1 if anything would change or is left, for CI
  cat train.py | hvdkit migrate -            one file from standard input to standard output

exit codes: 0 done, nothing left to you; 1 something is left (with --check: or would change);
2 hvdkit could not do its work.
"""


def parser() -> argparse.ArgumentParser:
    """The parser of `hvdkit migrate`."""
    made = argparse.ArgumentParser(
        prog="hvdkit migrate",
        description="Rewrite PyTorch training scripts to Horovod. Without --write nothing is written.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; - reads standard input")
    what = made.add_argument_group("what to do")
    what.add_argument("--write", action="store_true", help="write the changes in place")
    what.add_argument("--output", type=Path, metavar="DIR", help="write the migrated files under DIR instead")
    what.add_argument("--check", action="store_true", help="write nothing; exit 1 if anything would change")
    what.add_argument("--undo", action="store_true", help="restore every byte that the last --write changed")
    how = made.add_argument_group("how to rewrite")
    how.add_argument(
        "--target",
        choices=("horovod", "hvdkit"),
        help="plain horovod.torch (default), or the wrapper form hvdkit.torch",
    )
    how.add_argument("--suggested", action="store_true", default=None, help="also what changes results")
    how.add_argument(
        "--select", action="append", default=[], metavar="RULES", help="only these (HVD2,HVD301)"
    )
    how.add_argument("--ignore", action="append", default=[], metavar="RULES", help="all but these")
    gate = made.add_argument_group("where to write")
    gate.add_argument("--allow-dirty", action="store_true", help="write into a tree with uncommitted changes")
    gate.add_argument("--allow-no-vcs", action="store_true", help="write where there is no version control")
    out = made.add_argument_group("what to print")
    out.add_argument("--json", type=Path, metavar="FILE", help="the plan as JSON (- for standard output)")
    out.add_argument("--sarif", type=Path, metavar="FILE", help="the findings as SARIF 2.1.0")
    out.add_argument("--no-diff", action="store_true", help="leave the diff out of the report")
    return made


def main(argv: Sequence[str]) -> int:
    """Run `hvdkit migrate` and return its exit code."""
    args = parser().parse_args(argv[1:])
    if args.undo:
        return _undo(args)
    if not args.paths:
        raise UsageError(
            "no path was given", "", "hvdkit migrate train.py, or hvdkit migrate . for a project"
        )
    options = _options(args)
    if args.paths == ["-"]:
        return _stdin(options)
    if sum(map(bool, (args.write, args.output, args.check))) > 1:
        raise UsageError("--write, --output and --check exclude each other", "", "give one of them")
    paths = [Path(os.path.abspath(path)) for path in args.paths]
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path} does not exist", "", "check the path")
    if args.write:
        from hvdkit.migrate.apply import check_tree, root_of

        check_tree(root_of(paths), args.allow_dirty, args.allow_no_vcs)
    plan = make_plan(paths, options)
    _report(plan, options, args)
    if args.write:
        _write(plan, paths)
    elif args.output:
        _output(plan, paths, args.output)
    failed = bool(plan.left or plan.unreadable or any(file.problem for file in plan.files))
    return int(failed or (args.check and bool(plan.changed)))


def _options(args: argparse.Namespace) -> Options:
    """pyproject.toml's options, each overridden by its flag."""
    base = configured(Path.cwd() if args.paths == ["-"] else Path(os.path.abspath(args.paths[0])))
    return Options(
        args.target or base.target,
        base.suggested if args.suggested is None else args.suggested,
        _prefixes(args.select) or base.select,
        _prefixes(args.ignore) or base.ignore,
    )


def _prefixes(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def _report(plan: Plan, options: Options, args: argparse.Namespace) -> None:
    if args.json is not None:
        from hvdkit.migrate.report.data import as_json

        text = json.dumps(as_json(plan), indent=2) + "\n"
        if str(args.json) == "-":
            sys.stdout.write(text)
            return
        _put(args.json, text.encode())
    if args.sarif is not None:
        from hvdkit.migrate.report.sarif import as_sarif

        _put(args.sarif, (json.dumps(as_sarif(plan, Path.cwd()), indent=2) + "\n").encode())
    from rich.console import Console

    from hvdkit.migrate.report.text import show

    show(plan, options, not args.no_diff, Console())


def _write(plan: Plan, paths: Sequence[Path]) -> None:
    from hvdkit.migrate.apply import root_of, write

    if not plan.changed:
        return
    try:
        written = write(plan.files, root_of(paths))
    except OSError as error:
        raise HvdkitError(
            f"{error.filename or 'a file'} cannot be written: {error.strerror}",
            "each file is either as it was or as the diff shows",
            f"hvdkit migrate --undo {_first(paths)} restores those that were written",
        ) from error
    print(f"wrote {len(written.files)} file(s); hvdkit migrate --undo {_first(paths)} restores them")


def _first(paths: Sequence[Path]) -> str:
    return os.path.relpath(paths[0])


def _output(plan: Plan, paths: Sequence[Path], folder: Path) -> None:
    base = Path(os.path.commonpath([p if p.is_dir() else p.parent for p in paths]))
    count = 0
    for file in plan.files:
        if file.path.is_relative_to(base):
            target = folder / file.path.relative_to(base)
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise HvdkitError(f"{target.parent} cannot be made: {error.strerror}") from error
            _put(target, file.after.encode(file.encoding))
            count += 1
    print(f"wrote {count} file(s) under {folder}")


def _put(path: Path, data: bytes) -> None:
    from hvdkit.migrate.apply import replace_file

    try:
        replace_file(path, data)
    except OSError as error:
        raise HvdkitError(f"{path} cannot be written: {error.strerror}") from error


def _undo(args: argparse.Namespace) -> int:
    from hvdkit.migrate.apply import root_of, undo

    paths = [Path(os.path.abspath(path)) for path in args.paths] or [Path.cwd()]
    restored = undo(root_of(paths))
    for path in restored:
        print(f"restored {os.path.relpath(path)}")
    return 0


def _stdin(options: Options) -> int:
    """Standard input to standard output; the report goes to standard error."""
    raw = sys.stdin.buffer.read()
    path = Path.cwd() / "<stdin>.py"
    plan = make_plan([path], options, lambda asked: raw if asked == path else asked.read_bytes())
    for unreadable, line, reason in plan.unreadable:
        if unreadable == path:
            raise HvdkitError(f"standard input, line {line}: {reason}", "", "give a Python file")
    for file in plan.files:
        if file.path == path:
            sys.stdout.buffer.write(file.after.encode(file.encoding))
    for finding in plan.left:
        print(f"line {finding.line}: {finding.rule} {finding.message}", file=sys.stderr)
    return int(bool(plan.left))
