"""The report as SARIF 2.1.0, which code hosts show beside the lines of a pull request."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hvdkit import __version__
from hvdkit.migrate.catalog.rule import Rule
from hvdkit.migrate.plan import Applicability, Condition, Plan, Reported
from hvdkit.migrate.rules import all_rules

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {
    Applicability.SAFE: "note",
    Applicability.NEEDED: "warning",
    Applicability.SUGGESTED: "note",
    Applicability.MANUAL: "warning",
    Applicability.REFUSED: "error",
}

OPEN: dict[str, Any] = {
    "id": "open-condition",
    "shortDescription": {
        "text": "a condition of a migrated program that does not hold, or could not be proven"
    },
}


def as_sarif(
    plan: Plan, root: Path, rules: Sequence[Rule] = (), levels: dict[Applicability, str] = LEVELS
) -> dict[str, Any]:
    """One SARIF run; places are relative to `root`, edits are told as the finding's message.

    rules: those that the run chose from; migrate's when none are given.
    """
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": _driver(rules or all_rules(), [OPEN] if plan.open else [])},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"ROOT": {"uri": root.resolve().as_uri() + "/"}},
                "results": [
                    *(_result(finding, root, levels) for finding in plan.findings),
                    *(_open(condition, root) for condition in plan.open),
                ],
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [
                            {
                                "level": "warning",
                                "message": {"text": f"left alone: {reason}"},
                                "locations": [_location(path, line, 1, root)],
                            }
                            for path, line, reason in plan.unreadable
                        ],
                    }
                ],
            }
        ],
    }


def _driver(rules: Sequence[Rule], more: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": "hvdkit",
        "version": __version__,
        "rules": [
            {
                "id": rule.id,
                "shortDescription": {"text": rule.title},
                "fullDescription": {"text": rule.what},
                "help": {"text": f"{rule.why} {rule.safety}"},
            }
            for rule in rules
        ]
        + more,
    }


def _result(finding: Reported, root: Path, levels: dict[Applicability, str]) -> dict[str, Any]:
    text = f"{finding.message}: {finding.advice}" if finding.advice else finding.message
    return {
        "ruleId": finding.rule,
        "level": levels[finding.applicability],
        "message": {"text": text},
        "locations": [_location(finding.path, finding.line, finding.column, root)],
        "properties": {"applicability": finding.applicability.value, "cell": finding.cell},
    }


def _open(condition: Condition, root: Path) -> dict[str, Any]:
    """A condition that does not hold, or could not be shown to."""
    return {
        "ruleId": OPEN["id"],
        "level": "warning",
        "message": {"text": f"open: {condition.name}: {condition.detail}"},
        "locations": [_location(spot.path, spot.line, 1, root) for spot in condition.spots],
    }


def _location(path: Path, line: int, column: int, root: Path) -> dict[str, Any]:
    uri = quote(os.fsencode(os.path.relpath(path, root)))
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": uri, "uriBaseId": "ROOT"},
            "region": {"startLine": line, "startColumn": column},
        }
    }
