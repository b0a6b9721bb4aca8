"""The causes, one file each. A file is found by being here; its CAUSE's id is the file's name."""

from __future__ import annotations

import pkgutil
from functools import lru_cache
from importlib import import_module

from hvdkit.explain.cause import Cause


@lru_cache(maxsize=1)
def all_causes() -> tuple[Cause, ...]:
    """Every cause in the order of its id."""
    modules = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{module}").CAUSE for module in modules)
