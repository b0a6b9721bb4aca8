"""Attributes: of objects and classes of the program, of modules, and of what libraries gave."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.job.arguments import Arguments
from hvdkit.job.columns import Value, columns, lift
from hvdkit.job.machine import Machine
from hvdkit.job.store import Frame
from hvdkit.job.terms import Term


def attribute(machine: Machine, term: Term, name: str, site: ast.AST) -> Value:
    """`term.name`."""
    if term.kind == "module":
        return _of_module(machine, term, name)
    set_before = machine.attribute(term, name)
    if set_before is None:
        return _not_set(machine, term, name, site)
    if not any(map(machine.terms.may_be_unset, columns(set_before))):
        return set_before
    return lift(machine.terms.or_else, set_before, _not_set(machine, term, name, site))


def _not_set(machine: Machine, term: Term, name: str, site: ast.AST) -> Value:
    """`term.name` where the object itself was not given one."""
    if term.kind == "library":
        return machine.terms.make("library", f"{term.parts[0]}.{name}")
    if term.kind == "object":
        return _of_object(machine, term, name, site)
    if term.kind == "class":
        found = of_class(machine, term, name)
        if found is None:
            return machine.terms.make("attribute", name, term)
        return machine.each(found, lambda member: _on_class(machine, member, term))
    if term.kind == "super":
        return _of_super(machine, term, name, site)
    return machine.terms.make("attribute", name, term)


def set_attribute(machine: Machine, term: Term, name: str, value: Value, site: ast.AST) -> None:
    """`term.name = value`."""
    if term.kind == "object":
        setter = of_class(machine, class_of(term), name)
        if isinstance(setter, Term) and setter.kind == "property" and len(setter.parts) > 1:
            machine.call(_part(setter, 1), Arguments([term, value]), site)
            return
    if term.kind == "module":
        frame = _frame_of(term)
        frame.bound[name] = None
        machine.write((frame, name), value)
        return
    machine.set_attribute(term, name, value)


def _of_module(machine: Machine, term: Term, name: str) -> Value:
    frame = _frame_of(term)
    found = machine.read((frame, name))
    if found is not None:
        return found
    module = machine.modules.get(f"{frame.module.name}.{name}")
    if module is not None:
        return machine.terms.make("module", module.frame)
    return machine.terms.make("attribute", name, term)


def _frame_of(term: Term) -> Frame:
    frame = term.parts[0]
    assert isinstance(frame, Frame)
    return frame


def _of_object(machine: Machine, term: Term, name: str, site: ast.AST) -> Value:
    if name == "__class__":
        return class_of(term)
    found = of_class(machine, class_of(term), name)
    if found is None:
        return _by_getattr(machine, term, name, site)
    return machine.each(found, lambda member: bound(machine, member, term, site))


def _by_getattr(machine: Machine, term: Term, name: str, site: ast.AST) -> Value:
    """What the class's own `__getattr__` gives, or a term."""
    own = of_class(machine, class_of(term), "__getattr__")
    if isinstance(own, Term) and own.kind == "function" and own.parts[0] not in machine.running:
        return machine.call(own, Arguments([term, machine.terms.const(name)]), site)
    return machine.terms.make("attribute", name, term)


def bound(machine: Machine, member: Term, term: Term, site: ast.AST) -> Value:
    """What a member of a class is on an object."""
    if member.kind == "function":
        return machine.terms.make("bound", member, term)
    if member.kind == "property":
        return machine.call(_part(member, 0), Arguments([term]), site)
    if member.kind == "static":
        return _part(member, 0)
    if member.kind == "of class":
        return machine.terms.make(
            "bound", _part(member, 0), class_of(term) if term.kind == "object" else term
        )
    return member


def of_class(machine: Machine, term: Term, name: str) -> Value | None:
    """A member of a class, or of one that it inherits from."""
    for cls in lineage(term):
        if cls.kind == "class":
            found = machine.read((cls.parts[1], name))
            if found is None:
                found = machine.attribute(cls, name)
            if found is not None and found is not machine.terms.unset:
                return found
    return None


def _on_class(machine: Machine, member: Term, cls: Term) -> Value:
    """What a member is on the class itself."""
    if member.kind == "static":
        return _part(member, 0)
    return machine.terms.make("bound", _part(member, 0), cls) if member.kind == "of class" else member


def _of_super(machine: Machine, term: Term, name: str, site: ast.AST) -> Value:
    """`super().name`: a member of the classes behind the one whose method runs."""
    cls, instance = term.inner
    own = class_of(instance) if instance.kind == "object" else cls  # who calls it may not be known
    of = instance if instance.kind == "class" else own
    behind = [*lineage(of)]
    behind = behind[behind.index(cls) + 1 :] if cls in behind else [*lineage(cls)][1:]
    for other in behind:
        if other.kind == "class":
            found = machine.read((other.parts[1], name))
            if isinstance(found, Term) and found is not machine.terms.unset:
                return bound(machine, found, instance, site)
    library = next((other for other in behind if other.kind == "library"), None)
    holder = instance if library is None else machine.terms.make("base", library, instance)
    return machine.terms.make("attribute", name, holder)


def lineage(term: Term) -> Iterator[Term]:
    """A class and those that it inherits from, nearest first; those of libraries too."""
    seen: dict[Term, None] = {}
    waiting = [term]
    while waiting:
        cls = waiting.pop(0)
        if cls not in seen:
            seen[cls] = None
            yield cls
            if cls.kind == "class":
                bases = cls.parts[2]
                assert isinstance(bases, Term)
                waiting = [*bases.inner, *waiting]


def class_of(term: Term) -> Term:
    """The class of an object of the program."""
    return _part(term, 0)


def _part(term: Term, place: int) -> Term:
    part = term.parts[place]
    assert isinstance(part, Term)
    return part
