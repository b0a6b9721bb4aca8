"""The rules of check, one file each, found by their file names (hvd801_discarded.py holds HVD801)."""

from __future__ import annotations

from hvdkit.migrate.catalog.rule import Rule
from hvdkit.migrate.catalog.rule_files import load


def all_rules() -> tuple[Rule, ...]:
    """Every rule in the order of its number."""
    return load("check")
