"""The rules, one file each, found by their file names (hvd101_init.py holds HVD101)."""

from __future__ import annotations

from functools import lru_cache

from hvdkit.migrate.rule import Rule, rules_in


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """Every rule in the order of its number, which is the order in which their insertions are stacked."""
    return rules_in(__name__, __path__)
