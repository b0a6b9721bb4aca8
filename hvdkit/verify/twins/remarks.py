"""What a job may print otherwise than its original: lines of every rank, numbers of one rank's share."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.observe.records import Run
from hvdkit.verify.twins.files import Side
from hvdkit.verify.twins.lines import Line, Table, by_words
from hvdkit.verify.twins.numbers import digits
from hvdkit.verify.twins.outputs import printed_lines

BY_ALL = "every rank prints {0!r}{1}, which the original prints once"
OWN = "rank 0 prints the value of its share alone: {0!r}{1}; the original prints that of all samples"


def printed_otherwise(twins: Run, job: Run) -> Iterator[str]:
    """The first line of each kind."""
    before, now = ([_of_rank(run, rank) for rank in run.steps] for run in (twins, job))
    by_all = next((lines[0] for words, lines in now[0].items() if all(words in one for one in now)), None)
    if by_all:
        yield _told(BY_ALL, by_all)
    own = next((line for words in now[0] for line in _own(words, now[0], before)), None)
    if own:
        yield _told(OWN, own)


def _of_rank(run: Run, rank: int) -> Table:
    return by_words(printed_lines(Side(run, (rank,))))


def _own(words: str, now: Table, twins: list[Table]) -> Iterator[Line]:
    """Lines of the job with a number that only the first twin has."""
    for line, *theirs in zip(now[words], *(table.get(words, []) for table in twins)):
        for number, first, *others in zip(line.numbers, *(each.numbers for each in theirs)):
            if number == first not in others and digits(number) > 2:
                yield line


def _told(text: str, line: Line) -> str:
    return text.format(line.text.strip(), f" ({line.place})" if line.place else "")
