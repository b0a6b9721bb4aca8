"""Names: where they are looked up, and how a value is assigned to a target."""

from __future__ import annotations

import ast
import builtins

from hvdkit.job.attributes import set_attribute
from hvdkit.job.columns import Value, lift
from hvdkit.job.containers import held, set_item
from hvdkit.job.machine import Machine
from hvdkit.job.special import run_special
from hvdkit.job.store import Frame
from hvdkit.job.terms import Term
from hvdkit.job.training import change_by, is_of_optimizer, overwrite, share_statistics


def lookup(machine: Machine, name: str) -> Value:
    """The value of a name; one that nothing is seen to bind is a builtin's, or not known."""
    frame: Frame | None = machine.frame
    first = True
    while frame is not None:
        if name in frame.elsewhere:
            frame = frame.elsewhere[name]
        if first or not frame.is_class:
            found = machine.read((frame, name))
            if found is not None and found is not machine.terms.unset:
                return found
        frame, first = frame.outer, False
    return machine.terms.make("library" if hasattr(builtins, name) else "undefined", name)


def bind(machine: Machine, name: str, value: Value) -> None:
    """Give a name of the code that runs a value."""
    frame = machine.frame.elsewhere.get(name, machine.frame)
    frame.bound[name] = None
    machine.write((frame, name), value)


def assign(machine: Machine, target: ast.expr, value: Value) -> None:
    """Give a target a value."""
    if isinstance(target, ast.Name):
        bind(machine, target.id, value)
    elif isinstance(target, ast.Attribute):
        holder = machine.evaluate(target.value)

        def put(term: Term) -> Value:
            if target.attr == "__class__":
                share_statistics(machine, term)
            if target.attr == "data":
                overwrite(machine, term, [value], target, keeps=False)
            set_attribute(machine, term, target.attr, value, target)
            return machine.terms.none

        machine.each(holder, put)
    elif isinstance(target, ast.Subscript):
        holder, key = machine.evaluate(target.value), machine.evaluate(target.slice)

        def put_item(term: Term) -> Value:
            if is_of_optimizer(term):
                change_by(machine, value, target)
            if run_special(machine, term, ("__setitem__",), (key, value), target) is None:
                set_item(machine, term, key, value)
            return machine.terms.none

        machine.each(holder, put_item)
    elif isinstance(target, ast.Starred):
        assign(machine, target.value, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(machine, target, value)


def _unpack(machine: Machine, target: ast.Tuple | ast.List, value: Value) -> None:
    """`a, b = value`."""
    terms = machine.terms
    starred = [place for place, part in enumerate(target.elts) if isinstance(part, ast.Starred)]
    star = starred[0] if starred else len(target.elts)
    inside = held(machine, value)

    def item(term: Term, place: int) -> Term:
        number = place if place < star else place - len(target.elts)
        if term.kind == "tuple" and place != star and -len(term.parts) <= number < len(term.parts):
            part = term.parts[number]
            assert isinstance(part, Term)
            return part
        return terms.make("item", term, terms.const(number))

    for place, part in enumerate(target.elts):
        assign(machine, part, lift(lambda term, place=place: item(term, place), inside))
