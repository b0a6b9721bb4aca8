"""Programs whose optimizers cannot average gradients: in which that may be said after backward() (HVD416)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.plan import Applicability, Finding

AVERAGING = "HVD416"
# The rules that say that an optimizer cannot do it; apex amp is a library that changes what it steps.
ABOUT_OPTIMIZERS = ("HVD401", "HVD404", "HVD405", "HVD406", "HVD411", "HVD904", "HVD905", "HVD906", "HVD911")


def said_literally(facts: Facts, findings: Iterable[Finding]) -> frozenset[Path]:
    """The entries of programs that are refused for their optimizers, or in which apex steps with DDP."""
    found = {
        finding.path
        for finding in findings
        if finding.rule in ABOUT_OPTIMIZERS
        and (finding.applicability is Applicability.REFUSED or finding.rule == "HVD911")
    }
    return frozenset(
        program.entry.source.path
        for program in programs_of(facts)
        if program.migrates and not found.isdisjoint(names.source.path for names in program.files)
    )
