"""What libraries do, as data: one table a library, with the page that each line is from."""

from __future__ import annotations

from hvdkit.library import horovod, numpy, python, torch
from hvdkit.library.effects import Effect


def effect(name: str) -> Effect | None:
    """What a call of a library does, by its qualified name; None where no table has it."""
    for table in (python.CALLS, numpy.CALLS):
        if name in table:
            return table[name]
    found = torch.effect(name)
    return horovod.effect(name) if found is None else found
