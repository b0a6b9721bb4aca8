"""`hvdkit verify`: its arguments, what it prints, its exit code."""

from __future__ import annotations

import argparse
import json
import signal
from pathlib import Path

from hvdkit.arguments import parsed
from hvdkit.errors import HvdkitError, UsageError
from hvdkit.verify.options import add_run_options, request_fields, show_progress, split_arguments

EXAMPLES = """\
examples:
  hvdkit verify train_ddp.py train_hvd.py                 both on 2 ranks, 5 steps, compared bit for bit
  hvdkit verify train_ddp.py train_hvd.py -- --epochs 1   arguments for both scripts after `--`
  hvdkit verify train_ddp.py train_hvd.py --device cpu    scripts that ask for CUDA, on a machine without
  hvdkit verify train_ddp.py train_hvd.py --json -        the result for a machine

Both run in copies of the current folder; nothing here is changed.
Exit code: 0 they agree, 1 they differ, 2 one of them could not be run.
"""


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    made = argparse.ArgumentParser(
        prog="hvdkit verify",
        description="Run a script and its migration to Horovod, and compare what they compute, step by step.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("original", type=Path, help="the script as it was, DDP or single process")
    made.add_argument("migrated", type=Path, help="the script that uses Horovod")
    add_run_options(made)
    made.add_argument("--json", metavar="FILE", help="write the result here; - is stdout")
    made.add_argument(
        "arguments", nargs="*", default=[], metavar="-- SCRIPT ARGS", help="for both scripts"
    )  # default: optional
    return made


def main(argv: list[str]) -> int:
    """Exit code: 0 they agree, 1 they differ. Raises HvdkitError when they could not be compared."""
    options, script_arguments = split_arguments(argv[1:])
    asked = parsed(parser(), options)
    if asked.arguments:
        raise UsageError(
            f"more than two scripts: {' '.join(asked.arguments)}", fix="put `--` before script arguments"
        )
    _check_writable(asked.json)
    # As Ctrl-C: a runner that is told to stop must not leave two jobs behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    from hvdkit.verify.report import as_json, print_result
    from hvdkit.verify.session import Request, verify

    request = Request(asked.original, asked.migrated, script_arguments, **request_fields(asked))
    result = verify(request, show_progress)
    if asked.json == "-":
        print(json.dumps(as_json(result), indent=2))
    else:
        print_result(result)
        if asked.json:
            Path(asked.json).write_text(json.dumps(as_json(result), indent=2) + "\n", encoding="utf-8")
    return 0 if result.holds else 1


class UnwritableError(HvdkitError):
    """The file for the result cannot be written; said before the scripts run, not after."""


def _check_writable(file: str | None) -> None:
    if file in (None, "-"):
        return
    try:
        Path(str(file)).open("w").close()  # and an earlier result is gone if this one fails
    except OSError as error:
        raise UnwritableError(
            f"--json {file}: {error.strerror}", fix="name a file in a folder that exists"
        ) from error
