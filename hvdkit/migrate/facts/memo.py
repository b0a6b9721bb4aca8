"""Remembered answers to questions that may lead back to themselves.

The values of a name may depend on each other in a circle (`x = f(x)`). Answers are sets that only grow, so a
circle is solved as any data flow is: a question met while it is open gives what the last round found for it
(nothing in the first), every question is computed once in a round, and rounds go on until nothing grows.
A knot of mutual calls costs a few rounds over its questions, whatever the number of ways through it.
"""

from __future__ import annotations

from typing import Callable, Generic, TypeVar

T = TypeVar("T")

MAX_DEPTH = 80
MAX_ROUNDS = 8


class Memo(Generic[T]):
    """Answers by key. `nothing` is the empty answer."""

    def __init__(self, nothing: T) -> None:
        self._nothing = nothing
        self._done: dict[object, T] = {}
        self._last: dict[object, T] = {}  # what the last round found
        self._round: dict[object, T] = {}  # what this round found
        self._open: set[object] = set()
        self._circle = False  # whether this round met an open question

    def ask(self, key: object, compute: Callable[[], T]) -> T:
        """The answer to a question, computed once when it leads into no circle."""
        if key in self._done:
            return self._done[key]
        if not self._open:
            return self._solve(key, compute)
        if key in self._round:
            return self._round[key]
        if key in self._open or len(self._open) >= MAX_DEPTH:
            self._circle = True
            return self._last.get(key, self._nothing)
        return self._compute(key, compute)

    def _compute(self, key: object, compute: Callable[[], T]) -> T:
        self._open.add(key)
        try:
            answer = compute()
        finally:
            self._open.discard(key)
        self._round[key] = answer
        return answer

    def _solve(self, key: object, compute: Callable[[], T]) -> T:
        """Rounds until the answers stay the same; then they are kept."""
        self._last = {}
        for _ in range(MAX_ROUNDS):
            self._round, self._circle = {}, False
            answer = self._compute(key, compute)
            if not self._circle or self._round == self._last:
                break
            self._last = self._round
        self._done.update(self._round)
        return answer
