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
    job: Sequence[Line], twins: Sequence[Sequence[Line]], scales: Scales
) -> tuple[list[Wrong], list[Line]]:
    """The lines of the job with a wrong number; those of the first twin without a counterpart in the job."""
    now, before = _table(job), [_table(lines) for lines in twins]
    wrong = [found for words in before[0] for found in _wrong(now.get(words, []), before, words, scales)]
    missing = [line for words, lines in before[0].items() for line in lines[len(now.get(words, [])) :]]
    return sorted(wrong, key=lambda one: one.now.step), missing


def _wrong(now: list[Line], twins: Sequence[Table], words: str, scales: Scales) -> Iterator[Wrong]:
    for place, line in enumerate(now):
        lines = [table[words][place] for table in twins if len(table.get(words, [])) > place]
        if len(lines) < len(twins):
            return  # a rank's own lines
        columns = zip(line.numbers, *(each.numbers for each in lines))
        if any(is_wrong(number, own, scales) for number, *own in columns):
            yield Wrong(lines[0], line)


def _table(lines: Sequence[Line]) -> Table:
    table: defaultdict[str, list[Line]] = defaultdict(list)
    for line in lines:
        if not NOISE.search(line.text):
            table[line.words].append(line)
    return dict(table)
