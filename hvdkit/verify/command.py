"""`hvdkit verify`: its arguments, what it prints, its exit code."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvdkit import reports
from hvdkit.arguments import CommandParser, parsed
from hvdkit.errors import UsageError
from hvdkit.verify.options import add_run_options, request_fields, show_progress, split_arguments
from hvdkit.verify.shapes import Shape, shapes_of

if TYPE_CHECKING:
    from hvdkit.verify.scene import Request

EXAMPLES = """\
hvdkit verify train_hvd.py                              a Horovod script alone: checks that need no original
hvdkit verify train_ddp.py train_hvd.py                 both on 2 ranks, 5 steps, compared bit for bit
hvdkit verify train_ddp.py train_hvd.py -- --epochs 1   arguments for both scripts after `--`
hvdkit verify train_ddp.py train_hvd.py --device cpu    scripts that use CUDA, on a machine without it
hvdkit verify train.ipynb migrated.ipynb                notebooks: their code is run as a script
hvdkit verify train_ddp.py train_hvd.py --hosts a:1,b:1  on two machines that share this folder
hvdkit verify train_ddp.py train_hvd.py --shapes 2x1,2x2   on 2 ranks, and if they agree on 4
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
    made.add_argument(
        "--shapes",
        type=shapes_of,
        metavar="HxR,...",
        help="verify on each of these: H hosts (1 or 2, this machine) with R ranks each; ends with the first "
        "that differs",
    )
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
    if asked.shapes and (asked.np or asked.hosts):
        raise UsageError(
            "--shapes says how many ranks there are, and where", fix="leave out --np and --hosts"
        )
    if asked.html and asked.shapes:
        raise UsageError("--html is the page of one result", fix="--json, which has each shape's")
    if asked.html and len(asked.scripts) == 1:
        raise UsageError("--html compares two scripts", fix="hvdkit verify ORIGINAL MIGRATED --html=FILE")
    reports.withdraw(asked.json, asked.html)
    # As Ctrl-C: a runner that is told to stop must not leave two jobs behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    from hvdkit.verify.scene import Request

    original, migrated = asked.scripts[0], asked.scripts[-1]
    request = Request(original, migrated, script_arguments, **request_fields(asked))
    return _verified(asked, _by_shape(request, asked.shapes or ()))


def _by_shape(request: Request, shapes: Iterable[Shape]) -> dict[str, Request]:
    """What is verified, by the name of its shape: "" for the only one."""
    wanted = {
        str(shape): replace(request, world=shape.hosts * shape.slots, one_host=shape.hosts == 1)
        for shape in shapes
    }
    return wanted or {"": request}


def _verified(asked: argparse.Namespace, requests: dict[str, Request]) -> int:
    """Verify each until one differs, and report it; the exit code of all."""
    from hvdkit.verify import report, report_alone
    from hvdkit.verify.session import verify, verify_alone

    alone = len(asked.scripts) == 1
    results: dict[str, Any] = {}
    for name, request in requests.items():
        if name:
            show_progress(f"shape {name}")
        results[name] = verify_alone(request, show_progress) if alone else verify(request, show_progress)
        if results[name].code == 1:
            break
    if asked.html:
        from hvdkit.verify.report_html import as_html

        reports.put(asked.html, as_html(results[""]), asked.scripts)
    as_json = report_alone.as_json if alone else report.as_json
    if asked.json:
        found = {name: as_json(result) for name, result in results.items()}
        reports.put_json(asked.json, found.get("", {"shapes": found}), asked.scripts)
    if reports.STDOUT not in (asked.json, asked.html):
        for name, result in results.items():
            if name:
                print(f"shape {name}:")
            report_alone.print_result(result) if alone else report.print_result(result)
    codes = {result.code for result in results.values()}
    return 1 if 1 in codes else max(codes)
