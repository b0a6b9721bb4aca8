"""Jobs in blocks: one of each kind, in an order that turns from block to block.

Only jobs of one block are compared with each other: what else the hosts do affects them all.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

_Kind = TypeVar("_Kind")


class Spread(NamedTuple):
    """The median of some figures, and the quartiles around it."""

    low: float
    middle: float
    high: float

    def __str__(self) -> str:
        """Of ratios."""
        return f"{self.middle:.2f} ({self.low:.2f} to {self.high:.2f})"


def orders(kinds: Sequence[_Kind], blocks: int) -> Iterator[list[_Kind]]:
    """The kinds in the order of each block."""
    for number in range(blocks):
        at = number % len(kinds)
        yield [*kinds[at:], *kinds[:at]]


def spread(values: Sequence[float]) -> Spread:
    """Of at least one value."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    return Spread(*statistics.quantiles(values, n=4, method="inclusive"))
