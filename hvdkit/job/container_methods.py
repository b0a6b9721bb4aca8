"""Methods of lists, sets, dictionaries, the environment, and containers of layers."""

from __future__ import annotations

import ast
from typing import Callable

from hvdkit.job.arguments import Arguments
from hvdkit.job.columns import Value, columns, joined, lift
from hvdkit.job.containers import (
    ITEMS,
    KEYS,
    append,
    elements,
    extend,
    get_item,
    held,
    make_list,
    make_tuple,
    set_item,
)
from hvdkit.job.machine import Machine
from hvdkit.job.processes import ENVIRONMENT, variable
from hvdkit.job.terms import Term

Method = Callable[[Machine, Term, Arguments, ast.AST], Value]


def _get(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    key = given.get(0)
    if key is None:
        return machine.terms.none
    if holder.kind == "library" and holder.parts[0] == ENVIRONMENT:
        return variable(machine, key, given.get(1))
    default = given.get(1) or machine.terms.none
    keys = machine.read((holder, KEYS))
    if isinstance(keys, Term) and keys.kind == "tuple" and all(each.kind == "const" for each in columns(key)):
        found = [get_item(machine, holder, each) if each in keys.parts else default for each in columns(key)]
        return joined([columns(value)[process] for process, value in enumerate(found)])
    return get_item(machine, holder, key)


def _append(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    if given.positional:
        append(machine, holder, given.positional[-1])
    return machine.terms.none


def _extend(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    if given.positional:
        extend(machine, holder, given.positional[0])
    return machine.terms.none


def _sort(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    machine.write(
        (holder, ITEMS), lift(lambda term: machine.terms.make("sorted", term), held(machine, holder))
    )
    return machine.terms.none


def _keys(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    return held(machine, holder)


def _values(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    keys = elements(machine, holder)
    if keys is None:
        return machine.terms.make("values of", holder)
    return make_list(machine, site, [get_item(machine, holder, key) for key, _ in keys])


def _pairs(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    keys = elements(machine, holder)
    if keys is None:
        return machine.terms.make("items of", holder)
    return make_list(
        machine, site, [make_tuple(machine, [key, get_item(machine, holder, key)]) for key, _ in keys]
    )


def _update(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    more = given.get(0)
    keys = elements(machine, more) if isinstance(more, Term) and more.kind == "dict" else None
    if keys is not None and isinstance(more, Term):
        for key, _ in keys:
            set_item(machine, holder, key, get_item(machine, more, key))
    elif more is not None:
        machine.write((holder, KEYS), machine.site("updated", site, more))
    for name, value in given.named.items():
        set_item(machine, holder, machine.terms.const(name), value)
    return machine.terms.none


def _setdefault(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    key = given.get(0)
    keys = elements(machine, holder)
    if key is not None and keys is not None and all(key is not each for each, _ in keys):
        set_item(machine, holder, key, given.get(1) or machine.terms.none)
    return get_item(machine, holder, key) if key is not None else machine.terms.none


CONTAINERS: dict[str, dict[str, Method]] = {
    "list": {"append": _append, "insert": _append, "extend": _extend, "sort": _sort},
    "set": {"add": _append, "update": _extend},
    "dict": {
        "get": _get,
        "keys": _keys,
        "values": _values,
        "items": _pairs,
        "update": _update,
        "setdefault": _setdefault,
    },
    "library": {"get": _get},
    # A ModuleList, Sequential and the like.
    "made": {"append": lambda machine, holder, given, site: _add_part(machine, holder, given)},
}


def _add_part(machine: Machine, holder: Term, given: Arguments) -> Value:
    machine.set_attribute(holder, f"part {len(machine.members.get(holder, ()))}", given.positional[-1])
    return holder
