"""Functions that the program is not seen to call: something that is not known may call them."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from hvdkit.job.arguments import Arguments
from hvdkit.job.attributes import bound, lineage
from hvdkit.job.columns import columns
from hvdkit.job.machine import Machine
from hvdkit.job.store import Frame
from hvdkit.job.terms import Term


def call_uncalled(machine: Machine, frame: Frame, ran: Container[ast.AST]) -> None:
    """Call what a module defines, last first: it may call what is above. ran: what was called before."""
    for term in _defined(machine, frame):
        if term.kind == "function":
            if not _has_run(machine, term, ran):
                _call(machine, term)
        elif any(not _has_run(machine, method, ran) for method in _methods(machine, term)):
            _call_methods(machine, term, ran)


def _call_methods(machine: Machine, cls: Term, ran: Container[ast.AST]) -> None:
    """Call the methods of an object: those that it inherits first, which may call its own."""
    node = cls.parts[0]
    assert isinstance(node, ast.AST)
    made = machine.call(cls, Arguments([], more=True), node)
    for each in [*lineage(cls)][::-1]:
        for method in _methods(machine, each):
            inherited = each is not cls and method.parts[0] not in ran
            if isinstance(made, Term) and (inherited or not _has_run(machine, method, ran)):
                callee = bound(machine, method, made, node)
                assert isinstance(callee, Term)
                _call(machine, callee)


def _has_run(machine: Machine, function: Term, ran: Container[ast.AST]) -> bool:
    node = function.parts[0]
    return node in ran or node in machine.record.ran


def _methods(machine: Machine, cls: Term) -> list[Term]:
    members = cls.parts[1] if cls.kind == "class" else None
    if not isinstance(members, Frame):
        return []
    return [member for member in _defined(machine, members) if member.kind == "function"]


def _defined(machine: Machine, frame: Frame) -> Iterator[Term]:
    """The functions and classes that the code of a frame defines, last first."""
    for name in [*frame.bound][::-1]:
        for term in {*columns(machine.store.values.get((frame, name), machine.terms.none))}:
            outer = term.parts[1] if term.kind in ("function", "class") else None
            of = outer.outer if term.kind == "class" and isinstance(outer, Frame) else outer
            if of is frame:
                yield term


def _call(machine: Machine, callee: Term) -> None:
    function = callee.inner[0] if callee.kind == "bound" else callee
    node = function.parts[0]
    assert isinstance(node, ast.AST)
    with machine.maybe(node, "called", function):
        machine.call(callee, Arguments([], more=True), node)
