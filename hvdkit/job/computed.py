"""Builtins that compute: of values that are known what they give, and else a term of them."""

from __future__ import annotations

import ast
from typing import Callable

from hvdkit.job.arguments import Arguments
from hvdkit.job.columns import Value, lift
from hvdkit.job.containers import elements, held, known
from hvdkit.job.machine import Machine
from hvdkit.job.operators import FAILS, formatted, is_known, is_small, plain, power
from hvdkit.job.terms import Term

NUMBERS: dict[str, Callable[..., object]] = {"int": int, "float": float, "bool": bool, "str": str, "abs": abs}
COMPUTED: dict[str, Callable[..., object]] = {
    "min": min,
    "max": max,
    "sum": sum,
    "round": round,
    "repr": repr,
    "ord": ord,
    "chr": chr,
    "divmod": divmod,
    "pow": power,
    "format": formatted,
}
Builtin = Callable[[Machine, Arguments, ast.AST], Value]


def number(name: str) -> Builtin:
    """`int(x)` and the like."""

    def convert(machine: Machine, given: Arguments, site: ast.AST) -> Value:
        def of(term: Term) -> Term:
            if term.kind == "const" and isinstance(term.parts[0], (bool, int, float, str)):
                try:
                    return machine.terms.const(NUMBERS[name](term.parts[0]))
                except FAILS:
                    machine.risks += 1
            if name == "bool":
                return term
            return machine.terms.make("call", name, term)

        value = given.get(0)
        return (
            machine.terms.const(NUMBERS[name]() if name != "abs" else 0) if value is None else lift(of, value)
        )

    return convert


def rows(kind: str) -> Builtin:
    """`enumerate`, `zip`, `reversed`: a term of what containers hold."""
    plain = plain_term(kind)

    def call(machine: Machine, given: Arguments, site: ast.AST) -> Value:
        return plain(machine, Arguments([as_tuple(machine, value) for value in given]), site)

    return call


def plain_term(kind: str) -> Builtin:
    """A term of the arguments, under its own name."""

    def call(machine: Machine, given: Arguments, site: ast.AST) -> Value:
        return (
            lift(lambda *parts: machine.terms.make(kind, *parts), *given)
            if [*given]
            else machine.terms.make(kind)
        )

    return call


def computed(name: str) -> Builtin:
    """A function of numbers or texts: computed where all of them are known."""
    function, unknown = COMPUTED[name], plain_term(name)

    def call(machine: Machine, given: Arguments, site: ast.AST) -> Value:
        if given.named or given.more or not given.positional:
            return unknown(machine, given, site)
        values = [as_tuple(machine, value) for value in given.positional]

        def of(*parts: Term) -> Term:
            return apply(machine, function, *parts) or machine.terms.make(name, *parts)

        return lift(of, *values)

    return call


def as_tuple(machine: Machine, value: Value) -> Value:
    """What a container holds, as a tuple if its elements are known."""
    inside = known(machine, value)
    return held(machine, value) if inside is None else inside


def apply(machine: Machine, function: Callable[..., object], *parts: Term) -> Term | None:
    """What a function of Python gives of constants and tuples of constants; None where it is not known."""
    if not all(map(is_known, parts)):
        return None
    try:
        found = function(*map(plain, parts))
    except FAILS:
        machine.risks += 1
        return None
    if isinstance(found, (list, tuple)):
        return machine.terms.make("tuple", *map(machine.terms.const, found))
    return machine.terms.const(found) if is_small(found) else None


def _leaves(term: Term) -> tuple[Term, ...]:
    """The constants of a constant, or of a tuple of them."""
    return (term,) if term.kind == "const" else term.inner


def tested(name: str) -> Builtin:
    """`any(items)`, `all(items)`: a condition of the elements, if these are known."""
    plain = plain_term(name)

    def call(machine: Machine, given: Arguments, site: ast.AST) -> Value:
        terms = machine.terms
        items = elements(machine, given.positional[0]) if given.positional else None
        if items is None:
            return plain(machine, given, site)
        fails: Value = terms.true  # of any: no element is true; of all: none is false
        for item, there in items:
            test = machine.condition(item)
            wanted = test if name == "any" else lift(terms.negated, test)
            fails = lift(terms.both, fails, lift(terms.negated, lift(terms.both, there, wanted)))
        return lift(terms.negated, fails) if name == "any" else fails

    return call


def hashed(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    """`hash(x)`: of a text, or of what holds one, each process has its own."""
    value = given.get(0) or machine.terms.none

    def of(term: Term, own: Term) -> Term:
        alike = is_known(term) and not any(isinstance(part.parts[0], (str, bytes)) for part in _leaves(term))
        found = apply(machine, hash, term) if alike else None
        return found or (term if _is_whole(term) else machine.terms.make("hash", term, own))

    return lift(of, value, machine.own("the hash of a text", site))


def _is_whole(term: Term) -> bool:
    """Whether a term is a whole number, as far as it is seen: its hash is itself."""
    if term.kind == "each":
        return bool(term.inner) and term.inner[0].kind == "range"
    return term.kind == "call" and term.parts[0] in ("int", "len")


def in_order(machine: Machine, term: Term) -> Term:
    """A tuple in order, if its elements are known."""
    found = apply(machine, sorted, term) if term.kind == "tuple" else None
    return found or machine.terms.make("sorted", term)
