"""`hvdkit verify`: its arguments, what it prints, its exit code."""

from __future__ import annotations

import signal
from pathlib import Path

from hvdkit import reports
from hvdkit.arguments import CommandParser, parsed
from hvdkit.errors import UsageError
from hvdkit.verify.options import add_run_options, request_fields, show_progress, split_arguments

EXAMPLES = """\
hvdkit verify train_hvd.py                              a Horovod script alone: checks that need no original
hvdkit verify train_ddp.py train_hvd.py                 both on 2 ranks, 5 steps, compared bit for bit
hvdkit verify train_ddp.py train_hvd.py -- --epochs 1   arguments for both scripts after `--`
hvdkit verify train_ddp.py train_hvd.py --device cpu    scripts that use CUDA, on a machine without it
hvdkit verify train.ipynb migrated.ipynb                notebooks: their code is run as a script
hvdkit verify train_ddp.py train_hvd.py --hosts a:1,b:1  on two machines that share this folder
hvdkit verify train_ddp.py train_hvd.py --json          the result as JSON
"""
EXITS = {
    "0": "they agree (one script: everything holds)",
    "1": "they do not",
    "2": "one of them could not be run",
    "3": "they agree in all that was checked, and the verdict says what was not",
}


def parser() -> CommandParser:
    """The arguments of the command."""
    made = CommandParser(
        "verify",
        "Run a script and its migration to Horovod, and compare what they compute, step by step. "
        "Or run a Horovod script alone, on two hosts, and check what must hold without an original.",
        EXAMPLES,
        EXITS,
        "Scripts run under an overlay of the current folder, or in copies; nothing here is changed.",
        "hvdkit verify [options] [ORIGINAL] MIGRATED [-- SCRIPT ARGS]",
    )
    made.add_argument(
        "scripts",
        nargs="+",
        type=Path,
        metavar="SCRIPT",
        help="the original, if there is one, and the migrated script",
    )
    add_run_options(made)
    reports.add_reports(
        made, {"--json": "the result as JSON", "--html": "the result of two scripts as a page"}
    )
    return made


def main(argv: list[str]) -> int:
    """Exit code: 0 they agree, 1 they differ, 3 not all was checked.

    Raises HvdkitError when they could not be compared.
    """
    options, script_arguments = split_arguments(argv[1:])
    asked = parsed(parser(), options)
    if len(asked.scripts) > 2:
        raise UsageError(
            f"more than two scripts: {' '.join(map(str, asked.scripts[2:]))}",
            fix="put `--` before script arguments",
        )
    if asked.html and len(asked.scripts) == 1:
        raise UsageError("--html compares two scripts", fix="hvdkit verify ORIGINAL MIGRATED --html=FILE")
    reports.withdraw(asked.json, asked.html)
    # As Ctrl-C: a runner that is told to stop must not leave two jobs behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    from hvdkit.verify import report, report_alone
    from hvdkit.verify.scene import Request
    from hvdkit.verify.session import verify, verify_alone

    original, migrated = asked.scripts[0], asked.scripts[-1]
    request = Request(original, migrated, script_arguments, **request_fields(asked))
    if len(asked.scripts) == 1:
        checked = verify_alone(request, show_progress)
        if asked.json:
            reports.put_json(asked.json, report_alone.as_json(checked), asked.scripts)
        if asked.json != reports.STDOUT:
            report_alone.print_result(checked)
        return checked.code
    result = verify(request, show_progress)
    if asked.html:
        from hvdkit.verify.report_html import as_html

        reports.put(asked.html, as_html(result), asked.scripts)
    if asked.json:
        reports.put_json(asked.json, report.as_json(result), asked.scripts)
    if reports.STDOUT not in (asked.json, asked.html):
        report.print_result(result)
    return result.code
