"""Special methods: what tests, comparisons, subscripts, texts and loops run of the program's own classes."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hvdkit.job.arguments import Arguments
from hvdkit.job.attributes import bound, class_of, of_class
from hvdkit.job.columns import Value, columns
from hvdkit.job.machine import Machine
from hvdkit.job.terms import Term

COMPARES: dict[type, str] = {
    ast.Eq: "__eq__",
    ast.NotEq: "__ne__",
    ast.Lt: "__lt__",
    ast.LtE: "__le__",
    ast.Gt: "__gt__",
    ast.GtE: "__ge__",
}
TRUTH = ("__bool__", "__len__")
TEXT = ("__format__", "__str__", "__repr__")


def run_special(
    machine: Machine, term: Term, names: Sequence[str], given: Sequence[Value], site: ast.AST
) -> Value | None:
    """What the first of these methods gives that the class of an object defines; None where it has none."""
    if term.kind != "object":
        return None
    found = ((name, of_class(machine, class_of(term), name)) for name in names)
    name, member = next((each for each in found if each[1] is not None), ("", None))
    if member is None:
        return None
    arguments = Arguments([] if name == "__format__" else [*given])
    return machine.each(member, lambda each: machine.call(bound(machine, each, term, site), arguments, site))


def truth_of(machine: Machine, value: Value, site: ast.AST) -> Value:
    """A value as a test reads it: of an object, what its `__bool__` or `__len__` gives."""
    return _through(machine, value, TRUTH, site)


def text_of(machine: Machine, value: Value, site: ast.AST) -> Value:
    """A value as a text: of an object, what its `__str__` gives."""
    return _through(machine, value, TEXT, site)


def iterated(machine: Machine, value: Value, site: ast.AST) -> Value:
    """What a loop runs over: of an object, what its `__iter__` gives."""
    return _through(machine, value, ("__iter__",), site)


def _through(machine: Machine, value: Value, names: Sequence[str], site: ast.AST) -> Value:
    if not any(term.kind == "object" for term in columns(value)):
        return value

    def of(term: Term) -> Value:
        return run_special(machine, term, names, (), site) or term

    return machine.each(value, of)
