"""Where the reports for machines go: files, or one of them to standard output, which is then its own."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Callable, TextIO

from hvdkit.errors import UsageError
from hvdkit.files import write_output
from hvdkit.printable import printable

STDOUT = Path("-")


def add_reports(group: argparse._ArgumentGroup, what: str) -> None:
    """The options that ask for reports. what: "the plan"."""
    group.add_argument("--json", type=Path, metavar="FILE", help=f"{what} as JSON (- for standard output)")
    group.add_argument(
        "--sarif", type=Path, metavar="FILE", help="the findings as SARIF 2.1.0 (- for standard output)"
    )
    group.add_argument(
        "--html", type=Path, metavar="FILE", help=f"{what} as one HTML file, to read in a browser"
    )


def check_places(args: argparse.Namespace) -> None:
    """Raises: UsageError where two reports would be one file, or the page would go to a terminal."""
    if args.html == STDOUT or (args.html is not None and args.html in (args.json, args.sarif)):
        raise UsageError(f"--html {args.html} is not a separate file", "", "name a file: --html hvdkit.html")
    if args.json is not None and args.json == args.sarif:
        raise UsageError(
            f"--json {args.json} and --sarif {args.sarif} are the same place",
            "one report would overwrite the other",
            "give one of them a file: --sarif hvdkit.sarif",
        )


def talk(args: argparse.Namespace) -> TextIO:
    """Where what is said to people goes: standard error where a report has standard output."""
    return sys.stderr if STDOUT in (args.json, args.sarif) else sys.stdout


def put_reports(
    args: argparse.Namespace,
    data: Callable[[], dict[str, Any]],
    sarif: Callable[[], dict[str, Any]],
    html: Callable[[], str],
) -> None:
    """Write the reports that were asked for. Raises: HvdkitError where a file cannot be written."""
    if args.html is not None:
        write_output(args.html, printable(html()).encode())
    for place, report in ((args.json, data), (args.sarif, sarif)):
        if place is None:
            continue
        text = json.dumps(_printable(report()), indent=2) + "\n"
        if place == STDOUT:
            sys.stdout.write(text)
        else:
            write_output(place, text.encode())


def _printable(data: object) -> object:
    """Data whose texts every reader of JSON takes: half a character in one of them ends some."""
    if isinstance(data, dict):
        return {key: _printable(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_printable(value) for value in data]
    return printable(data) if isinstance(data, str) else data
