"""`hvdkit explain RULE` and `hvdkit explain --log FILE`."""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence
from pathlib import Path

from hvdkit import reports
from hvdkit.arguments import CommandParser, parsed
from hvdkit.errors import HvdkitError, UsageError
from hvdkit.files import read_stream
from hvdkit.printable import one_line
from hvdkit.shell import word

EXAMPLES = """\
hvdkit explain HVD201                       what a rule does, why, and when it is safe
horovodrun -np 2 -H localhost:2 python train.py 2>&1 | tee job.log
hvdkit explain --log job.log                why it failed or hangs, and what fixes it
kubectl logs launcher | hvdkit explain --log - --json
"""
EXITS = {"0": "explained", "1": "--log: the cause is unknown", "2": "there is nothing to explain"}


_LARGEST = 1 << 26  # bytes: the logs of the longest jobs have a few million lines


class LogError(HvdkitError):
    """The log cannot be read, or there is nothing in it."""


def parser() -> CommandParser:
    """The arguments of the command."""
    made = CommandParser(
        "explain",
        "Say what a rule does, or why a Horovod job failed or hangs, by its output.",
        EXAMPLES,
        EXITS,
        usage="hvdkit explain RULE\n       hvdkit explain --log FILE [--json[=FILE]]",
    )
    made.add_argument("rule", nargs="?", metavar="RULE", help="a rule's id")
    made.add_argument("--log", metavar="FILE", help="a job's output, both streams; - reads stdin")
    reports.add_reports(made, {"--json": "the cause as JSON (with --log)"})
    return made


def main(argv: Sequence[str]) -> int:
    """Run `hvdkit explain`. Raises: HvdkitError."""
    options = parsed(parser(), argv[1:])
    if (options.rule is None) == (options.log is None):
        raise UsageError(
            "give a rule or --log FILE" + (", not both" if options.rule else ""),
            fix="hvdkit explain HVD201, or hvdkit explain --log job.log",
        )
    if options.log is not None:
        return _explain_log(options.log, options.json)
    if options.json is not None:
        raise UsageError("--json goes with --log", fix="hvdkit rules --json lists the rules")
    from hvdkit.migrate.catalog.pages import page_of

    print(page_of(options.rule), end="")
    return 0


def _explain_log(name: str, place: Path | None) -> int:
    from hvdkit.explain import report
    from hvdkit.explain.log import parse
    from hvdkit.explain.verdict import judge

    verdict = judge(parse(_read(name)))
    if place is not None:
        reports.put_json(place, report.data(verdict), [Path(name)])
    if place != reports.STDOUT:
        print(report.text(verdict, "stdin" if name == "-" else one_line(name)), end="")
    return 0 if verdict.found else 1


def _read(name: str) -> str:
    """The text of a log; bytes that are no UTF-8 are replaced. Raises LogError."""
    try:
        if name == "-":
            raw = read_stream(sys.stdin.buffer, "stdin", _LARGEST)
        else:
            with Path(name).open("rb") as file:
                raw = read_stream(file, name, _LARGEST)
    except OSError as error:
        too_large = error.errno == errno.EFBIG
        raise LogError(
            f"cannot read {name}: {error.strerror}",
            fix=f"tail -c {_LARGEST >> 1} {word(name)} | hvdkit explain --log -"
            if too_large
            else "name a file that holds the job's output, or - for stdin",
        ) from error
    if not raw.strip():
        raise LogError(
            f"{'stdin' if name == '-' else name} is empty",
            why="Horovod and Python write their errors to stderr, which a plain `>` leaves out",
            fix="horovodrun -np 2 -H localhost:2 python train.py 2>&1 | tee job.log",
        )
    return raw.decode("utf-8", errors="replace")
