"""Values in the turns of a loop: what a term of a record is in the first turn, the second one, and so on."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from typing import NamedTuple

from hvdkit.job.computed import COMPUTED, NUMBERS
from hvdkit.job.containers import numbers_of
from hvdkit.job.operators import BINARY, COMPARED, FAILS
from hvdkit.job.record import Record
from hvdkit.job.terms import Term

OPERATORS = {kind.__name__: function for kind, function in {**BINARY, **COMPARED}.items()}


class Known(NamedTuple):
    """A known value. Unknown values are compared by their terms."""

    value: Hashable


def in_turn(record: Record, term: Term, loop: ast.AST, turn: int, unset: Hashable) -> Hashable:
    """What a term is in a turn of a loop, counted from 0. unset: what a value that is not there counts as."""
    return _Turn(record, loop, turn, unset).value(term)


class _Turn:
    """One turn."""

    def __init__(self, record: Record, loop: ast.AST, turn: int, unset: Hashable) -> None:
        self.record, self.loop, self.turn, self.unset = record, loop, turn, unset
        self._before = _Turn(record, loop, turn - 1, unset) if turn else self
        self._known: dict[Term, Hashable] = {}

    def value(self, term: Term) -> Hashable:
        """What a term is."""
        if term not in self._known:
            self._known[term] = self._value(term)
        return self._known[term]

    def _value(self, term: Term) -> Hashable:
        if term.kind == "const":
            return Known(term.parts[0])
        if term.kind == "unset":
            return Known(self.unset)
        if term.kind in ("each", "turn") and term.parts[0] is self.loop:
            return self._changing(term)
        inner = [self.value(part) for part in term.inner]
        if term.kind == "either":
            test, then, other = inner
            return (then if test.value else other) if isinstance(test, Known) else (term.kind, *inner)
        if term.kind == "and" and Known(False) in inner:
            return Known(False)
        if all(isinstance(part, Known) for part in inner):
            found = self._computed(term, [part.value for part in inner if isinstance(part, Known)])
            if found is not None:
                return found
        changes = any(part is not whole for part, whole in zip(inner, term.inner))
        plain = [part for part in term.parts if not isinstance(part, Term)]
        return (term.kind, *plain, *inner) if changes else term

    def _changing(self, term: Term) -> Hashable:
        """What the loop itself changes."""
        if term.kind == "turn" and self.turn == 0:
            return self.value(term.inner[0])
        if term.kind == "turn":
            left = term.inner[1] if self.turn == 1 else self.record.steps.get(term)
            return (term, self.turn) if left is None else self._before.value(left)
        numbers = numbers_of(term.inner[0]) if term.inner else range(self.turn + 1)
        if numbers is None or self.turn >= len(numbers):
            return (term, self.turn)
        return Known(numbers[self.turn])

    def _computed(self, term: Term, values: list[Hashable]) -> Known | None:
        """An operation on values that are known."""
        if term.kind == "not":
            return Known(not values[0])
        if term.kind == "and":
            return Known(all(values))
        named = {"op": OPERATORS, "compare": OPERATORS, "call": NUMBERS}.get(term.kind)
        function = COMPUTED.get(term.kind) if named is None else named.get(str(term.parts[0]))
        if function is None or (named is OPERATORS and len(values) != 2):
            return None
        try:
            return Known(function(*values))
        except FAILS:
            return None
