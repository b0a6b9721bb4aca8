"""Answers to questions that may lead back to themselves, each computed about once.

An answer is a set, united from the answers to other questions (`x = f(x)` makes the values of x depend on
themselves). Questions that depend on each other are answered together: each begins with nothing and is
computed again when something that it has read has grown, until nothing grows (Tarjan's components, found
while asking, and a fixed point in each). So an answer never depends on who asked first.

What has grown is computed in sweeps, from the question asked last to the first: a question that reads
hundreds of others waits for all of them, and is not computed once for each.
"""

from __future__ import annotations

import heapq
from dataclasses import field
from typing import Callable, Generic, TypeVar

from hvdkit.dataclass import dataclass

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")

MAX_DEPTH = 60  # open questions above each other; further ones wait, for Python's own stack is short


@dataclass(eq=False)
class _Question(Generic[T]):
    """A question without its final answer: compute(*given).

    position: in the stack of those that are open; first: the lowest that it reads.
    """

    key: object
    compute: Callable[..., frozenset[T]]
    given: tuple[object, ...]
    position: int
    first: int
    answer: frozenset[T] = frozenset()
    readers: set[_Question[T]] = field(default_factory=set)
    waiting: bool = False  # listed to be computed again
    reads_open: bool = False
    hopes: bool = False  # found nothing yet where it has something to give otherwise
    gave_up: bool = False


class Memo(Generic[T]):
    """Answers by key. shorten: what to keep of an answer, for those that would grow with the project."""

    def __init__(self, shorten: Callable[[frozenset[T]], frozenset[T]] = lambda answer: answer) -> None:
        self._shorten = shorten
        self._done: dict[object, frozenset[T]] = {}
        self._open: dict[object, _Question[T]] = {}
        self._stack: list[_Question[T]] = []  # the open ones, in the order in which they were first asked
        self._asking: list[_Question[T]] = []  # those whose computation runs
        self._again: list[int] = []  # heap of -position of the questions to compute again
        self._later: list[_Question[T]] = []  # those that the running sweep has passed: for the next one
        self._sweeps: list[tuple[int, int]] = []  # those that run: where each ends, and where it is
        self._guesses = 0  # answers given so far that may still grow

    def ask(self, key: object, compute: Callable[..., frozenset[T]], *given: object) -> frozenset[T]:
        """What compute(*given) answers to a question; inside a computation, what is known of it so far."""
        done = self._done.get(key)
        if done is not None:
            return done
        question = self._open.get(key)
        if question is None:
            position = len(self._stack)
            question = self._open[key] = _Question(key, compute, given, position, position)
            self._stack.append(question)
            if len(self._asking) < MAX_DEPTH:
                self._answer(question)
                done = self._done.get(key)
                if done is not None:
                    return done
            else:
                question.first = 0
                self._list(question)
        self._guesses += 1
        reader = self._asking[-1]
        question.readers.add(reader)
        reader.reads_open = True
        reader.first = min(reader.first, question.first)
        return question.answer

    def remembered(self, known: dict[K, list[V]], key: K, compute: Callable[[], list[V]]) -> list[V]:
        """known[key], else what compute() finds: kept there if each answer that it read was final."""
        found = known.get(key)
        if found is None:
            guesses = self._guesses
            found = compute()
            if self._guesses == guesses:
                known[key] = found
        return found

    def otherwise(self, found: frozenset[T], instead: Callable[[], frozenset[T]]) -> frozenset[T]:
        """`found`, or what a computation gives `instead` once it is certain that nothing will be found."""
        question = self._asking[-1]
        if found:
            return found
        if question.gave_up or not question.reads_open:
            return instead()
        question.hopes = True
        return found

    def grown(self, key: object) -> None:
        """Something that a computation reads besides answers has grown."""
        question = self._open.get(key)
        if question is not None:
            self._list(question)

    def _answer(self, question: _Question[T]) -> None:
        """Compute a question and, where none before it waits for it, everything that came to depend on it."""
        try:
            self._compute(question)
            while question.first == question.position:
                if self._waits(question.position):
                    other = self._stack[-heapq.heappop(self._again)]
                    other.waiting = False
                    self._sweeps.append((question.position, other.position))
                    self._compute(other)
                    self._sweeps.pop()
                    question.first = min(question.first, other.first)
                elif not self._give_up(question.position):
                    self._close(question.position)
                    return
        except BaseException:
            if not self._asking:
                self._open.clear()
                self._stack.clear()
                self._again.clear()
                self._later.clear()
                self._sweeps.clear()
            raise

    def _compute(self, question: _Question[T]) -> None:
        self._asking.append(question)
        try:
            found = question.compute(*question.given)
        finally:
            self._asking.pop()
        answer = question.answer if found <= question.answer else self._shorten(question.answer | found)
        if answer != question.answer:
            question.answer = answer
            for reader in question.readers:
                self._list(reader)

    def _list(self, question: _Question[T]) -> None:
        """Have a question computed again, in the sweep that runs if that has not passed it."""
        if question.waiting:
            return
        question.waiting = True
        at = next((at for end, at in reversed(self._sweeps) if end <= question.position), None)
        if at is not None and at <= question.position:
            self._later.append(question)
        else:
            heapq.heappush(self._again, -question.position)

    def _waits(self, position: int) -> bool:
        """Whether a question from a position on is to be computed again, in this sweep or in the next."""
        if not self._again or -self._again[0] < position:
            later, self._later = self._later, []
            for question in later:
                if question.position < position:
                    self._later.append(question)
                else:
                    heapq.heappush(self._again, -question.position)
        return bool(self._again) and -self._again[0] >= position

    def _give_up(self, position: int) -> bool:
        """Let the questions that still hope be computed without; False when there are none."""
        hopeful = False
        for place in range(position, len(self._stack)):
            question = self._stack[place]
            if question.hopes:
                hopeful, question.hopes, question.gave_up = True, False, True
                self._list(question)
        return hopeful

    def _close(self, position: int) -> None:
        while len(self._stack) > position:
            question = self._stack.pop()
            self._done[question.key] = question.answer
            question.readers.clear()  # a circle only the garbage collector would find
            del self._open[question.key]
