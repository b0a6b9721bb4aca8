"""Remembered answers to questions that may lead back to themselves.

The values of a name may depend on each other in a circle (`x = f(x)`). A question met again while it is being
answered adds nothing: values are united, so its own answer is in the result anyway. What was found below such
a cut is whole only for as long as the question that cut it is open, and is kept for just that long; without
that, a knot of mutual calls is walked again from each of its ends, in time exponential in its size.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Callable, Generic, TypeVar

T = TypeVar("T")

MAX_DEPTH = 80
WHOLE = MAX_DEPTH + 1  # deeper than any open question


class Memo(Generic[T]):
    """Answers by key. `nothing` is what an open question gives."""

    def __init__(self, nothing: T) -> None:
        self._nothing = nothing
        self._done: dict[object, T] = {}
        self._open: dict[object, int] = {}  # question -> its depth
        self._kept: dict[object, tuple[T, int, int]] = {}  # answer, shallowest and deepest cut
        self._kept_until: dict[int, list[object]] = defaultdict(list)  # deepest cut -> questions
        self._shallowest = WHOLE  # cuts met since the innermost open question began
        self._deepest = -1

    def ask(self, key: object, compute: Callable[[], T]) -> T:
        """The answer to a question, computed at most once while nothing it depends on is open."""
        if key in self._done:
            return self._done[key]
        if key in self._kept:
            answer, *cuts = self._kept[key]
            self._cut_at(*cuts)
            return answer
        if key in self._open:
            self._cut_at(self._open[key], self._open[key])
            return self._nothing
        depth = len(self._open)
        if depth >= MAX_DEPTH:
            self._cut_at(0, depth - 1)
            return self._nothing
        outer = self._shallowest, self._deepest
        self._shallowest, self._deepest = WHOLE, -1
        self._open[key] = depth
        try:
            answer = compute()
        finally:
            del self._open[key]
            for other in self._kept_until.pop(depth, ()):
                del self._kept[other]
        if self._shallowest >= depth:
            self._done[key] = answer
            self._shallowest, self._deepest = outer
        else:
            # Cut by this question itself does not matter outside; the deepest of the others decides.
            until = min(self._deepest, depth - 1)
            self._kept[key] = answer, self._shallowest, until
            self._kept_until[until].append(key)
            self._shallowest = min(self._shallowest, outer[0])
            self._deepest = max(until, outer[1])
        return answer

    def _cut_at(self, shallowest: int, deepest: int) -> None:
        self._shallowest = min(self._shallowest, shallowest)
        self._deepest = max(self._deepest, deepest)
