"""The rules, one file each, found by their file names (hvd101_init.py holds HVD101)."""

from __future__ import annotations

from hvdkit.migrate.catalog.rule import Rule
from hvdkit.migrate.catalog.rule_files import load


def all_rules() -> tuple[Rule, ...]:
    """Every rule in the order of its number, which is the order in which their insertions are stacked."""
    return load("migrate")
