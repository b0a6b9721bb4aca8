"""Escapes: the functions of the program that a library may call."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator

from hvdkit.job.attributes import lineage
from hvdkit.job.columns import columns
from hvdkit.job.containers import ITEMS, KEYS
from hvdkit.job.machine import Machine
from hvdkit.job.store import Frame, Key
from hvdkit.job.terms import Term

# Bases that call no method of the program's.
PLAIN = ("object", "abc.ABC", "enum.Enum", "typing.NamedTuple", "Exception")


def escaped(machine: Machine) -> set[ast.AST]:
    """The functions within reach of what a library was given, and those of classes that inherit from one."""
    found: set[ast.AST] = set()
    seen: set[Term] = set()
    waiting = [*machine.record.handed, *machine.given]
    while waiting:
        term = waiting.pop()
        if term in seen:
            continue
        seen.add(term)
        if term.kind == "function" and isinstance(term.parts[0], ast.AST):
            found.add(term.parts[0])
        waiting += _within(machine, term)
    return found


def _within(machine: Machine, term: Term) -> Iterator[Term]:
    """What a term is made of, and what it holds."""
    yield from term.inner
    names: list[Hashable] = [*machine.members.get(term, ())]
    if term.kind in ("list", "set"):
        names.append(ITEMS)
    if term.kind == "dict":
        keys = machine.store.values.get((term, KEYS))
        names += keys.inner if isinstance(keys, Term) else ()
    frame = term.parts[1] if term.kind == "class" else term.parts[0] if term.kind == "module" else None
    held: list[Key] = [(term, name) for name in names]
    held += [(frame, name) for name in frame.bound] if isinstance(frame, Frame) else []
    for key in held:
        value = machine.store.values.get(key)
        if value is not None:
            yield from {*columns(value)}


def is_of_library(cls: Term) -> bool:
    """Whether a class inherits from one of a library, which may call its methods."""
    return any(
        base.kind not in ("class", "fields") and str(base.parts[0]) not in PLAIN for base in lineage(cls)
    )
