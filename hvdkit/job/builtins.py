"""Python's builtins, and a few functions of its library that work on values of the program."""

from __future__ import annotations

import ast

from hvdkit.job.arguments import Arguments
from hvdkit.job.attributes import attribute, lineage, set_attribute
from hvdkit.job.columns import Value, columns, lift
from hvdkit.job.computed import (
    COMPUTED,
    NUMBERS,
    Builtin,
    computed,
    hashed,
    in_order,
    number,
    plain_term,
    rows,
    tested,
)
from hvdkit.job.containers import (
    ITEMS,
    KEYS,
    elements,
    gather,
    held,
    known,
    make_list,
    new,
    numbers_of,
    set_item,
)
from hvdkit.job.fields import make_field, make_fields
from hvdkit.job.functions import call_super, make_partial
from hvdkit.job.iterators import ITERATORS
from hvdkit.job.loops import element, one_by_one
from hvdkit.job.machine import Machine
from hvdkit.job.randomness import STATE
from hvdkit.job.special import run_special, text_of
from hvdkit.job.store import Frame
from hvdkit.job.terms import Term
from hvdkit.job.training import CLASS, WEIGHTS, parts, root, snapshot


def _len(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    value = given.get(0)
    if value is None:
        return machine.terms.none
    own = run_special(machine, value, ("__len__",), (), site) if isinstance(value, Term) else None
    if own is not None:
        return own

    def of(term: Term) -> Term:
        if term.kind == "tuple":
            return machine.terms.const(len(term.parts))
        if term.kind == "const" and isinstance(term.parts[0], str):
            return machine.terms.const(len(term.parts[0]))
        numbers = numbers_of(term)
        if numbers is not None:
            return machine.terms.const(len(numbers))
        if term.kind == "turn":
            node, key, was, left = term.parts
            lengths = of(*term.inner[:1]), of(*term.inner[1:])
            return lengths[0] if was is left else machine.terms.make("turn", node, ("length", key), *lengths)
        return machine.terms.make("call", "len", term)

    return lift(of, held(machine, value))


def _copied(kind: str) -> Builtin:
    """`list(x)`, `tuple(x)`, `sorted(x)`: the elements of what it is given."""

    def call(machine: Machine, given: Arguments, site: ast.AST) -> Value:
        value = given.get(0)
        if value is None:
            return machine.terms.make("tuple") if kind == "tuple" else make_list(machine, site, [])
        items = known(machine, value)
        inside = held(machine, value) if items is None else items
        if kind == "sorted":
            inside = _in_order(machine, inside, given.named.get("key"), site)
        elif _is_set(value):
            order = machine.own("the order of a set", site)
            inside = lift(lambda *terms: machine.terms.make("ordered", *terms), inside, order)
        if kind == "tuple":
            return inside
        made = new(machine, "list", site)
        machine.write((made, ITEMS), inside)
        return made

    return call


def _in_order(machine: Machine, items: Value, key: Value | None, site: ast.AST) -> Value:
    """Elements in order; by a key, a term of what this gives for one of them."""
    if key is None or key is machine.terms.none:
        return lift(lambda term: in_order(machine, term), items)
    by = machine.call(key, Arguments([element(machine, site, items)]), site)
    return lift(lambda *parts: machine.terms.make("sorted", *parts), items, by)


def _is_set(value: Value) -> bool:
    return isinstance(value, Term) and value.kind == "set"


def _set(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    """A set, whose order is each process's own."""
    made = new(machine, "set", site)
    value = given.get(0)
    if value is not None:
        machine.write(
            (made, ITEMS), lift(lambda term: machine.terms.make("elements of", term), held(machine, value))
        )
    return made


def _dict(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    made = new(machine, "dict", site)
    whole = not given.positional and not given.more
    machine.write((made, KEYS), machine.terms.make("tuple") if whole else machine.site("keys", site))
    for name, value in given.named.items():
        set_item(machine, made, machine.terms.const(name), value)
    return made


def _getattr(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    """`getattr(x, name)`: of a name that is not known, any that it may be."""
    holder, name = given.get(0), given.get(1)
    if holder is None or name is None:
        return machine.terms.none
    default = given.get(2)

    def of(term: Term, text: Term) -> Value:
        if text.kind != "const":
            return _candidates(machine, term, text, site)
        found = attribute(machine, term, str(text.parts[0]), site)
        unknown = isinstance(found, Term) and found.kind == "attribute"
        return default if default is not None and unknown and term.kind == "object" else found

    return machine.each(name, lambda text: machine.each(holder, lambda term: of(term, text)))


def _candidates(machine: Machine, holder: Term, name: Value, site: ast.AST) -> Value:
    names: dict[str, None] = dict.fromkeys(
        n for n in machine.members.get(holder, ()) if not n.startswith(":")
    )
    if holder.kind == "module":
        frame = holder.parts[0]
        assert isinstance(frame, Frame)
        names.update(frame.bound)
    if holder.kind in ("object", "class"):
        for cls in lineage(holder.inner[0] if holder.kind == "object" else holder):
            frame = cls.parts[1] if cls.kind == "class" else None
            names.update(frame.bound if isinstance(frame, Frame) else {})
    start, end = _ends_of(columns(name)[-1])
    fit = [
        each for each in names if each.startswith(start) and each.endswith(end) and not each.startswith("__")
    ]
    found = [attribute(machine, holder, each, site) for each in fit]
    if not found:
        return lift(lambda part: machine.terms.make("item", holder, part), name)
    return lift(lambda part, *all_of: machine.terms.make("any", part, *dict.fromkeys(all_of)), name, *found)


def _ends_of(name: Term) -> tuple[str, str]:
    """How a text that is not known begins and ends: `"save_" + kind`."""
    inner = [*name.inner]
    if name.kind not in ("op", "text") or not inner:
        return ("", "")

    def text(term: Term) -> str:
        return str(term.parts[0]) if term.kind == "const" else ""

    return (text(inner[0]) or _ends_of(inner[0])[0], text(inner[-1]))


def _setattr(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    holder, name, value = given.get(0), given.get(1), given.get(2)
    if holder is not None and value is not None and isinstance(name, Term) and name.kind == "const":
        text = str(name.parts[0])

        def put(term: Term) -> Value:
            set_attribute(machine, term, text, value, site)
            return machine.terms.none

        machine.each(holder, put)
    return machine.terms.none


def _map(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    """`map(function, items)`, which is run at once."""
    if len(given.positional) < 2:
        return machine.terms.none
    function, over = given.positional[:2]
    items = elements(machine, over)
    if items is None:
        one = machine.site("each", site, over)
        return machine.site("items of", site, machine.call(function, Arguments([one]), site))
    found: list[Value] = []
    there = one_by_one(
        machine, items, lambda value: found.append(machine.call(function, Arguments([value]), site))
    )
    made = new(machine, "list", site)
    machine.write((made, ITEMS), gather(machine, [*zip(found, there)]))
    return made


def _isinstance(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    """Whether an object is of a class, where both are the program's."""
    value, cls = given.get(0), given.get(1)
    if value is None or cls is None:
        return machine.terms.none

    def of(term: Term, kind: Term) -> Term:
        if term.kind == "object" and kind.kind in ("class", "library"):
            found = [*lineage(term.inner[0])]
            if kind in found:
                return machine.terms.true
            if kind.kind == "class":
                return machine.terms.false
        if term.kind == "made" and kind.kind == "library":
            own = machine.read((term, CLASS))
            if isinstance(own, Term) and _last(own) == _last(kind):
                return machine.terms.true  # a class may be had from several modules
        return machine.terms.make("compare", "isinstance", term, kind)

    return lift(of, value, cls)


def _last(term: Term) -> str:
    return str(term.parts[0]).rpartition(".")[2]


def _deepcopy(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    """`copy.deepcopy(x)`: the weights of a model as they are now."""
    value = given.get(0) or machine.terms.none
    return machine.each(value, lambda term: _copy_of(machine, term, site))


def _copy_of(machine: Machine, term: Term, site: ast.AST) -> Value:
    if term.kind == "weights of":
        return snapshot(machine, term) or term
    if term.kind not in ("object", "made") or not parts(machine, root(term)):
        return _shallow(machine, term, site)
    weights = snapshot(machine, term)
    cls = term.parts[0]
    made = machine.terms.make(term.kind, cls, site, machine.context)
    machine.record.places.setdefault(site, machine.frame.module)
    if weights is not None:
        machine.write((made, WEIGHTS), weights)
    return made


def _copy(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    """`copy.copy(x)`: another object with the same attributes; of a model, with the same weights."""
    value = given.get(0) or machine.terms.none
    return machine.each(value, lambda term: _shallow(machine, term, site))


def _shallow(machine: Machine, term: Term, site: ast.AST) -> Term:
    if term.kind not in ("object", "made", "list", "set", "dict") or parts(machine, root(term)):
        return term
    keys = machine.read((term, KEYS))
    items = keys.inner if isinstance(keys, Term) else ()
    made = machine.terms.make(term.kind, *term.parts[:-2], site, machine.context)
    machine.record.places.setdefault(site, machine.frame.module)
    machine.members.setdefault(made, {}).update(machine.members.get(term, {}))
    for name in (ITEMS, KEYS, STATE, CLASS, *machine.members[made], *items):
        value = machine.read((term, name))
        if value is not None:
            machine.write((made, name), value)
    return made


def _str(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    """`str(x)`: of an object, what its class makes of it."""
    convert = number("str")
    return convert(machine, Arguments([text_of(machine, value, site) for value in given.positional]), site)


def _print(machine: Machine, given: Arguments, site: ast.AST) -> Value:
    """`print(x)`, which makes a text of each argument."""
    for value in given.positional:
        text_of(machine, value, site)
    return machine.terms.none


BUILTINS: dict[str, Builtin] = {
    **{name: number(name) for name in NUMBERS if name != "str"},
    "str": _str,
    "print": _print,
    **{
        name: plain_term(name)
        for name in (
            "range",
            "type",
            "id",
            "hasattr",
            "callable",
            "vars",
            "dir",
            "slice",
        )
    },
    **{name: computed(name) for name in COMPUTED},
    **{name: rows(name) for name in ("enumerate", "zip", "reversed")},
    "any": tested("any"),
    "all": tested("all"),
    "hash": hashed,
    "len": _len,
    "list": _copied("list"),
    "tuple": _copied("tuple"),
    "sorted": _copied("sorted"),
    "set": _set,
    "frozenset": _set,
    "dict": _dict,
    "collections.OrderedDict": _dict,
    "getattr": _getattr,
    "setattr": _setattr,
    "map": _map,
    "isinstance": _isinstance,
    **ITERATORS,
    "collections.namedtuple": make_fields,
    "dataclasses.field": make_field,
    "copy.deepcopy": _deepcopy,
    "copy.copy": _copy,
    "functools.partial": make_partial,
    "super": lambda machine, given, site: call_super(
        machine, machine.terms.make("library", "super"), given, site
    ),
}
