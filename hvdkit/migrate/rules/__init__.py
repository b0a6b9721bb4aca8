"""The rules, one file each, found by their file names (hvd101_init.py holds HVD101)."""

from __future__ import annotations

import pkgutil
from functools import lru_cache
from importlib import import_module

from hvdkit.migrate.rule import Rule


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """Every rule in the order of its number, which is the order in which their insertions are stacked."""
    modules = sorted(
        module.name for module in pkgutil.iter_modules(__path__) if module.name.startswith("hvd")
    )
    return tuple(import_module(f"{__name__}.{module}").RULE for module in modules)
