"""Lines of text that differ in their numbers alone: those of the job against those of all twins."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hvdkit.verify.twins.numbers import Scales, is_wrong

# Times of day, dates, durations and addresses are nobody's result.
CLOCK = re.compile(
    r"\b\d+(?:\.\d+)?[mu]?s(?:/\w+)?\b|"
    r"\d{1,4}([-/:.])\d{1,2}\1\d{1,4}(?:[ T]\d{1,2}:\d\d(?::\d\d)?)?(?:[.,]\d+)?|\d{1,2}:\d\d|0x[0-9a-f]+"
)
NUMBER = re.compile(r"(?<![\d.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\b(?:nan|inf)\b")
# What libraries write about themselves: warnings, with lines of the script, and progress bars.
NOISE = re.compile(r"Warning\b|\bETA:|warnings\.warn|\bit/s\b|\bs/it\b|\d%\|")


@dataclass(frozen=True)
class Line:
    """A line, the step before which it was written, and where."""

    text: str
    step: int = 0
    place: str = ""

    @property
    def words(self) -> str:
        """The line without its numbers."""
        return NUMBER.sub("#", CLOCK.sub("@", self.text))

    @property
    def numbers(self) -> list[str]:
        """As they are written."""
        return NUMBER.findall(CLOCK.sub("@", self.text))


@dataclass(frozen=True)
class Wrong:
    """A line of the original (of the first twin), and the job's in its place."""

    before: Line
    now: Line


Table = dict[str, list[Line]]  # lines in order, by their words


def compare_lines(
    job: Sequence[Line], twins: Sequence[Sequence[Line]], scales: Scales, alone: Sequence[Line] = ()
) -> tuple[list[Wrong], list[Line]]:
    """The lines of the job with a wrong number; those of the first twin without a counterpart in the job.

    alone: those of the original as one process.
    """
    now, before, whole = by_words(job), [by_words(lines) for lines in twins], by_words(alone)
    wrong = [
        found
        for words in before[0]
        for found in _wrong(
            now.get(words, []), [table.get(words, []) for table in before], whole.get(words, []), scales
        )
    ]
    missing = [line for words, lines in before[0].items() for line in lines[len(now.get(words, [])) :]]
    return sorted(wrong, key=lambda one: one.now.step), missing


def _wrong(
    now: list[Line], twins: Sequence[list[Line]], alone: list[Line], scales: Scales
) -> Iterator[Wrong]:
    """Of lines with the same words."""
    apart = {
        column
        for each in zip(*twins)
        for column, numbers in enumerate(zip(*(line.numbers for line in each)))
        if len(set(numbers)) > 1
    }
    for place, line in enumerate(now):
        lines = [each[place] for each in twins if len(each) > place]
        if len(lines) < len(twins):
            return  # a rank's own lines
        whole = alone[place].numbers if len(alone) > place else [""] * len(line.numbers)
        columns = zip(line.numbers, whole, *(each.numbers for each in lines))
        if any(
            is_wrong(number, own, scales, one, column in apart)
            for column, (number, one, *own) in enumerate(columns)
        ):
            yield Wrong(lines[0], line)


def by_words(lines: Sequence[Line]) -> Table:
    """Lines in order, by their words; without those of libraries."""
    table: defaultdict[str, list[Line]] = defaultdict(list)
    for line in lines:
        if not NOISE.search(line.text):
            table[line.words].append(line)
    return dict(table)
