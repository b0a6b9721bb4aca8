"""Which files are unit tests: by their text alone, in one look over it however it is made."""

from __future__ import annotations

import re

_LIBRARY = re.compile(rb"^(?:import|from)[ ]+(?:pytest|unittest)\b", re.M)
_TEST = re.compile(rb"^[ \t]*(?:async[ ]+)?(?:def|class)[ ]+[Tt]est", re.M)
# Files that pytest takes for tests by their names, and what it runs in them; they need not import it.
_FILE = re.compile(r"test_.*\.py$|.*_test\.py$")
_FUNCTION = re.compile(rb"^def[ ]+test_", re.M)
_CLASS = re.compile(rb"^class[ ]+Test", re.M)
_METHOD = re.compile(rb"^[ \t]+def[ ]+test_", re.M)


def is_unit_test(raw: bytes) -> bool:
    """Whether a file imports a unit test library and has a test below the import."""
    return _one_below_the_other(_LIBRARY, _TEST, raw)


def is_plain_test(name: str, raw: bytes) -> bool:
    """Whether pytest would take a file of this name for tests, and find one in it."""
    if not _FILE.match(name):
        return False
    return _FUNCTION.search(raw) is not None or _one_below_the_other(_CLASS, _METHOD, raw)


def _one_below_the_other(first: re.Pattern[bytes], second: re.Pattern[bytes], raw: bytes) -> bool:
    found = first.search(raw)
    return found is not None and second.search(raw, found.end()) is not None
