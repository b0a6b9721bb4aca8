"""Iterators: what goes over numbers or elements one by one, and knows its place."""

from __future__ import annotations

import ast

from hvdkit.job.arguments import Arguments
from hvdkit.job.columns import Value, lift
from hvdkit.job.computed import Builtin, plain_term
from hvdkit.job.containers import get_item
from hvdkit.job.loops import begins, element
from hvdkit.job.machine import Machine
from hvdkit.job.operators import binary
from hvdkit.job.special import iterated
from hvdkit.job.terms import Term

NUMBER = ":number"  # how many elements an iterator has given


def _islice(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    """`itertools.islice(items, start, stop, step)`."""
    none = machine.terms.none
    bounds = [*given.positional[1:], none, none, none][:3]
    if len(given.positional) == 2:
        bounds = [none, given.positional[1], none]
    key = lift(lambda *parts: machine.terms.make("slice", *parts), *bounds)
    return machine.each(given.get(0) or none, lambda term: get_item(machine, term, key))


def _arange(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    """`numpy.arange(start, stop, step)`."""
    return plain_term("range")(machine, Arguments(given.positional), site)


def _count(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    """`itertools.count(start, step)`."""
    bounds = [given.get(0, "start") or machine.terms.const(0), given.get(1, "step") or machine.terms.const(1)]
    return _begin(machine, site, lift(lambda *parts: machine.terms.make("counted", *parts), *bounds))


def _iter(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    value = iterated(machine, given.get(0) or machine.terms.none, site)
    begins(machine, site, value)
    if isinstance(value, Term) and value.kind in ("generator", "iterator"):
        return value
    return _begin(machine, site, value)


def _begin(machine: Machine, site: ast.AST, over: Value) -> Value:
    """An iterator that has given nothing yet."""
    made = machine.site("iterator", site, over)
    if isinstance(made, Term):
        machine.write((made, NUMBER), machine.terms.const(0))
    return made


def _next(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    machine.risks += 1
    value = given.get(0) or machine.terms.none

    def of(term: Term) -> Value:
        over = (term.inner or (term,))[0] if term.kind == "iterator" else term
        number = machine.read((term, NUMBER))
        if number is None:
            return element(machine, site, over)
        add = ast.Add
        one = machine.terms.const(1)
        machine.write((term, NUMBER), lift(lambda part: binary(machine.terms, add, part, one), number))
        bounds = _bounds(machine, over)
        if bounds is None:
            return element(machine, site, over)
        start, step = bounds

        def numbered(part: Term) -> Term:
            return binary(machine.terms, add, start, binary(machine.terms, ast.Mult, part, step))

        return lift(numbered, number)

    return machine.each(value, of)


def _bounds(machine: Machine, over: Term) -> tuple[Term, Term] | None:
    """The first of the numbers that are counted, and how far the next one is."""
    inner, terms = over.inner, machine.terms
    if over.kind == "counted":
        return inner[0], inner[1]
    if over.kind != "range" or not inner:
        return None
    return (terms.const(0) if len(inner) == 1 else inner[0]), (
        inner[2] if len(inner) == 3 else terms.const(1)
    )


ITERATORS: dict[str, Builtin] = {
    "iter": _iter,
    "next": _next,
    "itertools.count": _count,
    "itertools.islice": _islice,
    "numpy.arange": _arange,
    "torch.arange": _arange,
}
