"""Fields: what objects of dataclasses and named tuples are made with."""

from __future__ import annotations

import ast

from hvdkit.job.arguments import Arguments
from hvdkit.job.attributes import lineage, of_class
from hvdkit.job.columns import Value, lift
from hvdkit.job.containers import ITEMS, elements, make_tuple
from hvdkit.job.machine import Machine
from hvdkit.job.terms import Term

NAMED_TUPLE = "typing.NamedTuple"


def make_fields(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    """`collections.namedtuple(name, fields)`: a class."""
    fields = given.get(1, "field_names")
    names: list[object] = []
    if isinstance(fields, Term) and fields.kind == "const":
        names += str(fields.parts[0]).replace(",", " ").split()
    elif fields is not None:
        names += [item.parts[0] for item, _ in elements(machine, fields) or () if isinstance(item, Term)]
    if not names or not all(isinstance(name, str) for name in names):
        return machine.site("call", site, *given) if [*given] else machine.terms.none
    return machine.terms.make("fields", *map(str, names))


def call_fields(machine: Machine, term: Term, given: Arguments, site: ast.AST) -> Value:
    """Make an object of what `collections.namedtuple` gave."""
    made = machine.terms.make("object", term, site, machine.context)
    set_fields(machine, term, made, given, site)
    return made


def make_field(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    """`dataclasses.field(...)`: its default, or what makes it."""
    factory = given.named.get("default_factory")
    if factory is None:
        return given.named.get("default") or machine.terms.unset
    return lift(lambda term: machine.terms.make("factory", term), factory)


def set_fields(machine: Machine, cls: Term, made: Term, given: Arguments, site: ast.AST) -> None:
    """Give an object of a class without `__init__` what it is made with."""
    fields = _fields(cls)
    names = dict.fromkeys(fields, False)
    for name, value in (*zip(fields, given.positional), *given.named.items()):
        names[name] = True
        machine.set_attribute(made, name, value)
    for name in [name for name, is_given in names.items() if not is_given]:
        default = of_class(machine, cls, name)
        if isinstance(default, Term) and default.kind == "factory":
            machine.set_attribute(made, name, machine.call(default.inner[0], Arguments([]), site))
        names[name] = default is not None
    is_tuple = any(base.kind == "fields" or base.parts[0] == NAMED_TUPLE for base in lineage(cls))
    if is_tuple and all(names.values()) and not given.more:
        values = (machine.attribute(made, name) or of_class(machine, cls, name) for name in fields)
        machine.write((made, ITEMS), make_tuple(machine, [value for value in values if value is not None]))


def _fields(cls: Term) -> dict[str, None]:
    """The fields of a class, in order."""
    found: dict[str, None] = {}
    for each in [*lineage(cls)][::-1]:
        node = each.parts[0]
        if each.kind == "fields":
            found.update((str(name), None) for name in each.parts)
        elif isinstance(node, ast.ClassDef):
            annotated = (part.target for part in node.body if isinstance(part, ast.AnnAssign))
            found.update((target.id, None) for target in annotated if isinstance(target, ast.Name))
    return found
