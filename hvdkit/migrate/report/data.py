"""The report for machines: the plan as JSON."""

from __future__ import annotations

from typing import Any

from hvdkit import __version__
from hvdkit.migrate.plan import Plan


def as_json(plan: Plan) -> dict[str, Any]:
    """The plan as plain data; `schema` changes when a field changes its meaning."""
    return {
        "schema": 1,
        "hvdkit": __version__,
        "files": [
            {"path": str(file.path), "changed": file.changed, "problem": file.problem} for file in plan.files
        ],
        "findings": [finding.as_json() for finding in plan.findings],
        "programs": [
            {
                "entry": str(program.entry),
                "kind": program.kind,
                "files": [str(path) for path in program.files],
                "refused": program.refused,
                "unchanged": program.unchanged,
                "conditions": [condition.as_json() for condition in program.conditions],
            }
            for program in plan.programs
        ],
        "unreadable": [
            {"path": str(path), "line": line, "reason": reason} for path, line, reason in plan.unreadable
        ],
        "untouched": plan.untouched,
        "tests": plan.tests,
        "launch_lines": list(plan.notes),
    }
