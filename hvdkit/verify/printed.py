"""Numbers that both runs print in one line, or save under one name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from hvdkit.verify.records import Step

NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)(?!\.\d)")
DIGITS = 2  # that a number has at least: a single one may be any factor of another by chance


def numbers_apart(one: Step, other: Step, factors: Iterable[float]) -> Iterator[tuple[str, str, str]]:
    """Where the second run has the first one's number times a factor: what it is, and both as written."""
    for before, now in [*_lines(one, other), *_saved(one, other)]:
        left, right = NUMBER.findall(before[1]), NUMBER.findall(now[1])
        for a, b in zip(left, right):
            if any(_is_times(a, b, factor) for factor in factors):
                yield before[0], before[1], now[1]


def _lines(one: Step, other: Step) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Lines that differ in their numbers alone, in order."""
    theirs: defaultdict[str, list[str]] = defaultdict(list)
    for line in other.printed:
        theirs[NUMBER.sub("0", line)].append(line)
    for line in one.printed:
        same = theirs[NUMBER.sub("0", line)]
        if same:
            yield ("", line), ("", same.pop(0))


def _saved(one: Step, other: Step) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Single numbers in files, by the file and the path of keys."""
    numbers = [
        {(file.file, t.name): t.digest for file in step.saved for t in file.tensors if t.dtype == "float"}
        for step in (one, other)
    ]
    for key in numbers[0].keys() & numbers[1].keys():
        name = f"in {key[0]}"
        yield (name, f"{key[1]} {numbers[0][key]}"), (name, f"{key[1]} {numbers[1][key]}")


def _is_times(one: str, other: str, factor: float) -> bool:
    """Whether the second number is the first one times a factor, as far as they are written out."""
    a, b = float(one), float(other)
    if a == b or min(map(_digits, (one, other))) < DIGITS:
        return False
    return abs(b - a * factor) <= 0.5 * (_unit(one) * factor + _unit(other)) * (1 + 1e-9)


def _digits(text: str) -> int:
    """Those that are given, from the first that is not 0."""
    return len(re.sub(r"[eE].*|\D", "", text).lstrip("0"))


def _unit(text: str) -> float:
    """What the last digit counts."""
    mantissa, _, exponent = text.lower().partition("e")
    return float(10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])))
