"""The report for people, and the same as JSON for machines."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any, TextIO

from hvdkit.console import console, plain
from hvdkit.examination.finding import Finding, Level
from hvdkit.examination.session import Report

_STYLES = {
    Level.OK: "green",
    Level.NOTE: "cyan",
    Level.WARNING: "yellow",
    Level.ERROR: "red",
    Level.UNKNOWN: "yellow",
}


def print_report(report: Report, quiet: bool) -> None:
    """Print to stdout: every finding, or with `quiet` those that count, and a verdict."""
    print_findings([finding for finding in report.findings if finding.level.counts or not quiet], sys.stdout)
    if not quiet or not report.holds:
        print(verdict(report))


def print_findings(findings: list[Finding], file: TextIO) -> None:
    """One finding a paragraph: level, check, host and what was seen; why; fix."""
    report = console(file)
    width = max((len(finding.check) for finding in findings), default=0)
    for finding in findings:
        level = plain(f"{finding.level.value:<8}", style=_STYLES[finding.level])
        host = f"{finding.host}: " if finding.host else ""
        report.print(level + plain(f"{finding.check:<{width}}  {host}{finding.seen}"))
        if finding.why:
            report.print(plain(f"{'':<8}{'':<{width}}    why: {finding.why}"))
        if finding.fix:
            report.print(plain(f"{'':<8}{'':<{width}}    fix: {finding.fix}"))


def verdict(report: Report) -> str:
    """The last line."""
    counts = {level: 0 for level in Level if level.counts}
    for finding in report.findings:
        if finding.level.counts:
            counts[finding.level] += 1
    names = {Level.WARNING: "warning", Level.ERROR: "error", Level.UNKNOWN: "not known"}
    parts = [
        f"{count} {names[level]}{'s' * (count > 1 and level is not Level.UNKNOWN)}"
        for level, count in counts.items()
        if count
    ]
    return ", ".join(parts) or "nothing found"


def as_json(report: Report) -> dict[str, Any]:
    """The report as JSON-ready data."""
    return {
        "holds": report.holds,
        "hosts": list(report.hosts),
        "findings": [{**asdict(finding), "level": finding.level.value} for finding in report.findings],
        "facts": report.facts,
    }
