"""`match`: which cases a value may come to."""

from __future__ import annotations

import ast
from typing import Any

from hvdkit.job.columns import Value, lift
from hvdkit.job.machine import Machine
from hvdkit.job.names import bind
from hvdkit.job.operators import compared

# ast has these from Python 3.10 on, and hvdkit runs on 3.9, whose programs have none.


def run_match(machine: Machine, node: Any) -> None:
    """Run the first case that fits."""
    _cases(machine, machine.evaluate(node.subject), node.cases)


def _cases(machine: Machine, subject: Value, cases: list[Any]) -> None:
    if not cases:
        return
    case = cases[0]
    fits = _fits(machine, subject, case.pattern)

    def matched() -> None:
        _capture(machine, subject, case.pattern)
        if case.guard is None:
            machine.execute(case.body)
            return
        guard = machine.evaluate(case.guard)
        machine.fork(guard, lambda: machine.execute(case.body), lambda: _cases(machine, subject, cases[1:]))

    machine.fork(fits, matched, lambda: _cases(machine, subject, cases[1:]))


def _fits(machine: Machine, subject: Value, pattern: Any) -> Value:
    """Whether a value fits a pattern."""
    terms = machine.terms
    kind = type(pattern).__name__
    if kind == "MatchValue":
        value = machine.evaluate(pattern.value)
        return lift(lambda one, two: compared(terms, ast.Eq, one, two), subject, value)
    if kind == "MatchSingleton":
        value = terms.const(pattern.value)
        return lift(lambda one, two: compared(terms, ast.Is, one, two), subject, value)
    if kind == "MatchAs":
        return terms.true if pattern.pattern is None else _fits(machine, subject, pattern.pattern)
    if kind == "MatchOr":
        result: Value = terms.false
        for part in pattern.patterns:
            fits = _fits(machine, subject, part)
            result = lift(_or(machine), result, fits)
        return result
    if kind == "MatchSequence" and all(type(part).__name__ != "MatchStar" for part in pattern.patterns):
        return _sequence(machine, subject, pattern)
    return lift(lambda term: terms.make("compare", pattern, term), subject)


def _or(machine: Machine) -> Any:
    terms = machine.terms
    return lambda one, two: terms.negated(terms.both(terms.negated(one), terms.negated(two)))


def _sequence(machine: Machine, subject: Value, pattern: Any) -> Value:
    """`case 0, True:` of a tuple whose parts are known."""
    terms = machine.terms
    size = len(pattern.patterns)
    result: Value = lift(
        lambda term: (
            terms.truth(len(term.parts) == size)
            if term.kind == "tuple"
            else terms.make("compare", pattern, term)
        ),
        subject,
    )
    for place, part in enumerate(pattern.patterns):
        inner = lift(lambda term, place=place: _item(machine, term, place), subject)
        result = lift(terms.both, result, _fits(machine, inner, part))
    return result


def _item(machine: Machine, term: Any, place: int) -> Any:
    if term.kind == "tuple" and place < len(term.parts):
        return term.parts[place]
    return machine.terms.make("item", term, machine.terms.const(place))


def _capture(machine: Machine, subject: Value, pattern: Any) -> None:
    """Give the names in a pattern their values."""
    kind = type(pattern).__name__
    if kind == "MatchAs":
        if pattern.pattern is not None:
            _capture(machine, subject, pattern.pattern)
        if pattern.name is not None:
            bind(machine, pattern.name, subject)
        return
    for place, part in enumerate(getattr(pattern, "patterns", ())):
        if kind == "MatchOr":
            _capture(machine, subject, part)
        else:
            inner = lift(lambda term, place=place: _item(machine, term, place), subject)
            _capture(machine, inner, part)
    if (kind in ("MatchStar", "MatchMapping") and getattr(pattern, "name", None)) or getattr(
        pattern, "rest", None
    ):
        bind(
            machine,
            getattr(pattern, "name", None) or pattern.rest,
            machine.site("captured", pattern, subject),
        )
    for part in getattr(pattern, "kwd_patterns", ()):
        _capture(machine, machine.site("captured", part, subject), part)
