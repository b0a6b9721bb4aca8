"""What libraries do, as data: one table a library, with the page that each line is from."""

from __future__ import annotations

from functools import lru_cache

from hvdkit.library import horovod, numpy, python, tensorflow, torch
from hvdkit.library.effects import Effect

NAMES = 10_000  # whose effects are remembered


@lru_cache(maxsize=NAMES)
def effect(name: str) -> Effect | None:
    """What a call of a library does, by its qualified name; None where no table has it."""
    module, _, last = name.rpartition(".")
    for calls, modules in ((python.CALLS, python.MODULES), (numpy.CALLS, numpy.MODULES)):
        if name in calls:
            return calls[name]
        if module in modules and last.islower():
            return modules[module]
    found = (table.effect(name) for table in (torch, tensorflow, horovod))
    return next((each for each in found if each is not None), None)
