"""Numbers that both runs print in one line, or save under one name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from hvdkit.observe.records import Step
from hvdkit.verify.twins.numbers import CLOSE, digits, unit

NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)(?!\.\d)")
NEAR = 0.1  # relative, below which two numbers are of the same thing
DIGITS = 2  # that a number has at least: a single one may be any factor of another by chance


def numbers_apart(one: Step, other: Step, factors: Iterable[float]) -> Iterator[tuple[str, str, str]]:
    """Where the second run has the first one's number times a factor: what it is, and both as written."""
    for before, now in [*_lines(one, other), *_saved(one, other)]:
        if factor_between(before[1], now[1], factors):
            yield before[0], before[1], now[1]


def factor_between(before: str, now: str, factors: Iterable[float]) -> bool:
    """Whether a number of a line is one of these factors times the one in its place in another."""
    pairs = zip(NUMBER.findall(before), NUMBER.findall(now))
    return any(_is_times(a, b, factor) for a, b in pairs for factor in factors)


def near_misses(before: str, now: str) -> Iterator[tuple[str, str]]:
    """Numbers of a line that are almost those in their places in another, by more than rounding."""
    for one, other in zip(NUMBER.findall(before), NUMBER.findall(now)):
        a, b = float(one), float(other)
        if CLOSE * abs(a) + unit(one) + unit(other) < abs(a - b) < NEAR * abs(a):
            yield one, other


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
    if a == b or min(map(digits, (one, other))) < DIGITS:
        return False
    return abs(b - a * factor) <= 0.5 * (unit(one) * factor + unit(other)) * (1 + 1e-9)
