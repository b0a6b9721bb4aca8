"""Programs whose optimizers cannot average gradients: in which that may be said after backward() (HVD416)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hvdkit.migrate.catalog.left_out import LEFT
from hvdkit.migrate.catalog.rule import AverageAfter, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.plan import Applicability, Finding

AVERAGING = "HVD416"


def without_averages(facts: Facts, rules: Iterable[Rule], findings: Iterable[Finding]) -> frozenset[Path]:
    """The entries of programs whose optimizers cannot average, by what the rules found."""
    when = {rule.id: rule.average_after for rule in rules}
    found = {finding.place.path for finding in findings if _says_so(finding, when[finding.rule])}
    return frozenset(
        program.entry.source.path
        for program in programs_of(facts)
        if program.migrates and not found.isdisjoint(names.source.path for names in program.files)
    )


def _says_so(finding: Finding, when: AverageAfter) -> bool:
    refused = finding.applicability is Applicability.REFUSED and finding.obstacle is not LEFT
    return when is AverageAfter.FOUND or (when is AverageAfter.REFUSED and refused)
