"""The reports of migrate and check: which there are, where they go, and where people are told then."""

from __future__ import annotations

import argparse
from typing import Any, Callable, TextIO

from hvdkit import reports
from hvdkit.migrate.plan import Plan


def add_reports(group: argparse._ArgumentGroup, what: str) -> None:
    """The options that ask for reports. what: "the plan"."""
    helps = {
        "--json": f"{what} as JSON",
        "--sarif": "the findings as SARIF 2.1.0",
        "--html": f"{what} as a page",
    }
    reports.add_reports(group, helps)


def talk(args: argparse.Namespace) -> TextIO:
    """Where what is said to people goes: standard error where a report has standard output."""
    return reports.free_stdout(args.json, args.sarif, args.html)


def put_reports(
    args: argparse.Namespace,
    plan: Plan,
    data: Callable[[], dict[str, Any]],
    sarif: Callable[[], dict[str, Any]],
    html: Callable[[], str],
) -> None:
    """Write the reports that were asked for. Raises: HvdkitError where a file cannot be written."""
    sources = [file.path for file in plan.files]
    if args.html is not None:
        reports.put(args.html, html(), sources)
    for place, report in ((args.json, data), (args.sarif, sarif)):
        if place is not None:
            reports.put_json(place, report(), sources)
