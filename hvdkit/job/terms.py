"""Terms: what is known of a value in one process, either a constant or where the value comes from.

A term is made once: two values that come from the same place in the same way are one object, and equality is
identity. So "the same on all ranks" compares no trees.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator


class Term:
    """One term. kind says what its parts are: other terms, nodes of the program, plain data."""

    __slots__ = ("inner", "kind", "parts")

    def __init__(self, kind: str, parts: tuple[Hashable, ...]) -> None:
        self.kind = kind
        self.parts = parts
        self.inner = tuple([part for part in parts if type(part) is Term])  # the terms that it is made of

    def __repr__(self) -> str:
        # One level: a term that several terms share would be written once for each way to it.
        shown = (part.kind if type(part) is Term else repr(part) for part in self.parts)
        return f"{self.kind}({', '.join(shown)})"


FIRST = 1_000  # terms that a run may ask for before its first module


class TooMuch(Exception):
    """More terms were asked for than a program of this length needs."""


class Terms:
    """All terms of one run. left: how many may still be asked for."""

    def __init__(self) -> None:
        self.left = FIRST
        self._made: dict[tuple[Hashable, ...], Term] = {}
        self._conditions: dict[Term, Term] = {}
        self._lacking: dict[Term, bool] = {}
        self._leaves: dict[tuple[Term, Term], Term] = {}
        self.true = self.const(True)
        self.false = self.const(False)
        self.none = self.const(None)
        self.unset = self.make("unset")

    def make(self, kind: str, *parts: Hashable) -> Term:
        """The term of this kind with these parts. Raises: TooMuch."""
        self.left -= 1
        if self.left < 0:
            raise TooMuch
        key = (kind, *parts)
        term = self._made.get(key)
        if term is None:
            term = self._made[key] = Term(kind, parts)
        return term

    def const(self, value: Hashable) -> Term:
        """A constant; 1, 1.0 and True are three."""
        key = ("const", type(value), value)
        term = self._made.get(key)
        if term is None:
            term = self._made[key] = Term("const", (value,))
        return term

    def truth(self, value: bool) -> Term:
        """True or False."""
        return self.true if value else self.false

    def negated(self, test: Term) -> Term:
        """A condition's opposite."""
        if test.kind == "const":
            return self.truth(not test.parts[0])
        if test.kind == "not":
            inner = test.parts[0]
            assert isinstance(inner, Term)
            return inner
        return self.make("not", test)

    def both(self, one: Term, two: Term) -> Term:
        """One condition and another."""
        if one is self.false or two is self.false or one is self.negated(two):
            return self.false
        if one is self.true or one is two:
            return two
        if two is self.true or two in conjuncts(one):
            return one
        return self.make("and", one, two)

    def either(self, test: Term, then: Term, other: Term) -> Term:
        """What a branch leaves: one value where its test holds, and else another."""
        if test.kind == "const":
            return then if test.parts[0] else other
        if test.kind == "not":
            inner = test.parts[0]
            assert isinstance(inner, Term)
            return self.either(inner, other, then)
        then, other = _under(test, then, 1), _under(test, other, 2)
        then, other = self._itself(test, then, True), self._itself(test, other, False)
        if then is other:
            return then
        if {then, other} & {self.true, self.false} and self.is_condition(then) and self.is_condition(other):
            return self.chosen(test, then, other)
        return self.make("either", test, then, other)

    def chosen(self, test: Term, then: Term, other: Term) -> Term:
        """A condition where a test holds, and else another."""
        if then is other:
            return then
        if other is self.false:
            return self.both(test, then)
        if then is self.false:
            return self.both(self.negated(test), other)
        if then is self.true:
            return self.negated(self.both(self.negated(test), self.negated(other)))
        if other is self.true:
            return self.negated(self.both(test, self.negated(then)))
        return self.make("either", test, then, other)

    def _itself(self, test: Term, value: Term, truth: bool) -> Term:
        """A condition where a test of it has been decided."""
        if value is test and self.is_condition(test):
            return self.truth(truth)
        opposite = value.kind == "not" and value.parts[0] is test
        return self.truth(not truth) if opposite else value

    def is_leaf(self, value: Term, leaf: Term) -> Term:
        """The condition under which a value, of which there may be several, is one of them."""
        if value.kind == "turn":
            return self.is_leaf([*value.inner][-1], leaf)
        if value.kind != "either":
            return self.truth(value is leaf)
        key = (value, leaf)
        if key not in self._leaves:
            test, then, other = value.inner
            is_then, is_other = self.is_leaf(then, leaf), self.is_leaf(other, leaf)
            self._leaves[key] = self.chosen(self.condition(test), is_then, is_other)
        return self._leaves[key]

    def may_be_unset(self, term: Term) -> bool:
        """Whether a value is not there on some way."""
        if term.kind != "either":
            return term is self.unset
        if term not in self._lacking:
            _, then, other = term.inner
            self._lacking[term] = self.may_be_unset(then) or self.may_be_unset(other)
        return self._lacking[term]

    def or_else(self, term: Term, default: Term) -> Term:
        """A value, and where it is not there another."""
        if term is self.unset:
            return default
        if not self.may_be_unset(term):
            return term
        test, then, other = term.inner
        return self.either(test, self.or_else(then, default), self.or_else(other, default))

    def is_condition(self, term: Term) -> bool:
        """Whether a term can only be true or false."""
        return (
            term is self.true
            or term is self.false
            or term.kind in ("not", "and", "compare", "fails", "called", "chosen")
        )

    def condition(self, term: Term) -> Term:
        """A term as a test reads it."""
        if term.kind == "const":
            return self.truth(bool(term.parts[0]))
        if term.kind != "either":
            return term
        if term not in self._conditions:
            test, then, other = term.inner
            then = self.true if then is test else self.condition(then)
            other = self.false if other is test else self.condition(other)
            self._conditions[term] = self.chosen(self.condition(test), then, other)
        return self._conditions[term]


def _under(test: Term, value: Term, place: int) -> Term:
    """What a value is where a test holds (place 1) or does not (2)."""
    while value.kind == "either" and value.parts[0] is test:
        inner = value.parts[place]
        assert isinstance(inner, Term)
        value = inner
    return value


def conjuncts(test: Term) -> Iterator[Term]:
    """The conditions that all have to hold for this one, each once."""
    seen: set[Term] = set()
    waiting = [test]
    while waiting:
        term = waiting.pop()
        if term in seen:
            continue
        seen.add(term)
        if term.kind == "and":
            waiting += term.inner
        else:
            yield term


def within(term: Term) -> Iterator[Term]:
    """A term and all that it is made of, each once."""
    seen: set[Term] = set()
    waiting = [term]
    while waiting:
        found = waiting.pop()
        if found not in seen:
            seen.add(found)
            yield found
            waiting += found.inner
