"""The rules of check, one file each, found by their file names (hvd801_discarded.py holds HVD801)."""

from __future__ import annotations

from functools import lru_cache

from hvdkit.migrate.rule import Rule, rules_in


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """Every rule in the order of its number."""
    return rules_in(__name__, __path__)
