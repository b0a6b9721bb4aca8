"""The findings of check for people: every one with its place, what happens, and how it is fixed."""

from __future__ import annotations

from hvdkit.console import show_line
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import WAITING, Applicability, Plan
from hvdkit.migrate.report.text import show_diff, show_finding, show_left_alone
from hvdkit.printable import counted

# --suggested -> what --fix then carries out
FIXABLE = {
    False: frozenset((Applicability.SAFE,)),
    True: frozenset((Applicability.SAFE, *WAITING)),
}

# Whatever can be fixed, a finding is wrong until it is.
SARIF_LEVELS = {
    Applicability.SAFE: "warning",
    Applicability.NEEDED: "warning",
    Applicability.SUGGESTED: "warning",
    Applicability.MANUAL: "warning",
    Applicability.REFUSED: "error",
}


def show(plan: Plan, options: Options, diff: bool) -> None:
    """The diff, when it was asked for, every finding, and how many there are."""
    if diff:
        show_diff(plan)
    for finding in plan.findings:
        show_finding(finding)
    show_left_alone(plan)
    show_line(summary(plan, options))


def summary(plan: Plan, options: Options) -> str:
    """One line: how many findings, in how many files, and how many of them --fix fixes."""
    kinds = [finding.applicability for finding in plan.findings]
    tests = [f"{counted(plan.tests, 'unit test file')} skipped"] if plan.tests else []
    if not kinds:
        return ", ".join([f"nothing found in {counted(len(plan.files), 'file')}", *tests])
    files = len({finding.path for finding in plan.findings})
    parts = [f"{counted(len(kinds), 'finding')} in {files} of {counted(len(plan.files), 'file')}"]
    now = sum(kind in FIXABLE[options.suggested] for kind in kinds)
    more = sum(kind in WAITING for kind in kinds) if not options.suggested else 0
    if now:
        parts.append(f"{now} fixed by --fix")
    if more:
        parts.append(f"{more} more by --fix --suggested")
    return ", ".join([*parts, *tests])
