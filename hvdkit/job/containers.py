"""Lists, sets, dictionaries and tuples of the program: their elements, where these are known."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hvdkit.job.columns import PROCESSES, Value, columns, joined, lift
from hvdkit.job.machine import Machine
from hvdkit.job.terms import Term

ITEMS, KEYS = ":items", ":keys"


def new(machine: Machine, kind: str, site: ast.AST) -> Term:
    """An empty container of this call of this code."""
    return machine.terms.make(kind, site, machine.context)


def make_list(machine: Machine, site: ast.AST, items: Sequence[Value]) -> Term:
    """A list with these elements."""
    made = new(machine, "list", site)
    machine.write((made, ITEMS), make_tuple(machine, items))
    return made


def make_tuple(machine: Machine, items: Sequence[Value]) -> Value:
    """A tuple with these elements."""
    if not items:
        return machine.terms.make("tuple")
    return lift(lambda *parts: machine.terms.make("tuple", *parts), *items)


def content(machine: Machine, term: Term) -> Value:
    """What a list holds, as a tuple, or a term that tells it apart; any other term as it is."""
    if term.kind in ("list", "set"):
        return machine.read((term, ITEMS)) or machine.terms.make("items", term)
    if term.kind == "dict":
        return machine.read((term, KEYS)) or machine.terms.make("items", term)
    if term.kind == "object":  # a named tuple
        return machine.read((term, ITEMS)) or term
    return term


def known(machine: Machine, value: Value) -> Value | None:
    """The elements of what is iterated, as a tuple for each process; None where they are not known."""
    inside = lift(lambda term: _paired(machine, term), held(machine, value))
    # No turn of a longer range differs from the second, unless the ranks differ in how many they take.
    most = 2 if isinstance(inside, Term) else PROCESSES
    inside = lift(lambda term: _numbers(machine, term, most), inside)
    return inside if all(term.kind in ("tuple", "unset") for term in columns(inside)) else None


def gather(machine: Machine, found: Sequence[tuple[Value, Value]]) -> Value:
    """The tuple of these elements, each of which is there under a condition that is known in each process."""
    flat = [value for pair in found for value in pair]

    def of(*parts: Term) -> Term:
        return machine.terms.make(
            "tuple", *(part for part, there in zip(parts[::2], parts[1::2]) if there is machine.terms.true)
        )

    return lift(of, *flat) if flat else machine.terms.make("tuple")


def elements(machine: Machine, value: Value) -> list[tuple[Value, Value]] | None:
    """The elements of what is iterated, each with the condition under which it is there; None: not known."""
    inside = known(machine, value)
    if inside is None:
        return None
    most = max((len(term.parts) for term in columns(inside)), default=0)
    terms = machine.terms

    def item(term: Term, place: int) -> Term:
        part = term.parts[place] if place < len(term.parts) else terms.unset
        assert isinstance(part, Term)
        return part

    return [
        (
            lift(lambda term, place=place: item(term, place), inside),
            lift(lambda term, place=place: terms.truth(place < len(term.parts)), inside),
        )
        for place in range(most)
    ]


def held(machine: Machine, value: Value) -> Value:
    """What containers hold, as tuples where this is known; what is no container is left as it is."""
    if isinstance(value, Term):
        return content(machine, value)
    return joined([columns(content(machine, term))[process] for process, term in enumerate(value)])


def counted(term: Term) -> int | None:
    """How many elements something has, if that is known."""
    if term.kind == "tuple":
        return len(term.parts)
    numbers = numbers_of(term)
    return None if numbers is None else len(numbers)


def numbers_of(term: Term) -> range | None:
    """The numbers of a range whose bounds are known."""
    if term.kind != "range":
        return None
    bounds = [
        part.parts[0]
        for part in term.inner
        if part.kind == "const" and isinstance(part.parts[0], (int, bool))
    ]
    if len(bounds) != len(term.parts) or (len(bounds) == 3 and not bounds[2]):
        return None
    return range(*bounds)


def _paired(machine: Machine, term: Term) -> Term:
    """`enumerate`, `zip` and `reversed` of tuples, as a tuple."""
    terms, inner = machine.terms, [*term.inner]
    if term.kind not in ("enumerate", "zip", "reversed") or any(part.kind != "tuple" for part in inner[:1]):
        return term
    if term.kind == "reversed":
        return terms.make("tuple", *inner[0].parts[::-1])
    if term.kind == "zip":
        if any(part.kind != "tuple" for part in inner):
            return term
        return terms.make(
            "tuple", *(terms.make("tuple", *row) for row in zip(*(part.parts for part in inner)))
        )
    first = inner[1].parts[0] if len(inner) > 1 and inner[1].kind == "const" else 0
    if not isinstance(first, int):
        return term
    rows = enumerate(inner[0].parts, first)
    return terms.make("tuple", *(terms.make("tuple", terms.const(place), part) for place, part in rows))


def _numbers(machine: Machine, term: Term, most: int) -> Term:
    """The numbers of a range, if there are at most so many."""
    numbers = numbers_of(term)
    if numbers is None or len(numbers) > most:
        return term
    return machine.terms.make("tuple", *map(machine.terms.const, numbers))


def append(machine: Machine, holder: Term, value: Value) -> None:
    """`list.append`, `set.add`."""
    before = machine.read((holder, ITEMS)) or machine.terms.make("tuple")

    def longer(items: Term, term: Term) -> Term:
        if items.kind == "tuple":
            return machine.terms.make("tuple", *items.parts, term)
        return machine.terms.make("more", items, term)

    machine.write((holder, ITEMS), lift(longer, before, value))


def extend(machine: Machine, holder: Term, value: Value) -> None:
    """`list.extend` and `+=`."""
    added = held(machine, value)
    before = machine.read((holder, ITEMS)) or machine.terms.make("tuple")

    def longer(items: Term, more: Term) -> Term:
        if items.kind == "tuple" and more.kind == "tuple":
            return machine.terms.make("tuple", *items.parts, *more.parts)
        return machine.terms.make("more", items, more)

    machine.write((holder, ITEMS), lift(longer, before, added))


def set_item(machine: Machine, holder: Term, key: Value, value: Value) -> None:
    """`d[key] = value`."""
    if holder.kind != "dict":
        if holder.kind in ("list", "set") and key is _whole(machine):
            machine.write((holder, ITEMS), held(machine, value))
        elif holder.kind in ("list", "set"):
            before = content(machine, holder)
            changed = lift(lambda *parts: machine.terms.make("changed", *parts), before, key, value)
            machine.write((holder, ITEMS), changed)
        return
    if not isinstance(key, Term):
        machine.write((holder, KEYS), lift(lambda part: machine.terms.make("items", holder, part), key))
        return
    before = machine.read((holder, KEYS)) or machine.terms.make("tuple")

    def longer(keys: Term) -> Term:
        if keys.kind != "tuple" or key in keys.parts:
            return keys
        return machine.terms.make("tuple", *keys.parts, key)

    machine.write((holder, KEYS), lift(longer, before))
    machine.write((holder, key), value)


def _whole(machine: Machine) -> Term:
    """The slice that is all of a list: `items[:]`."""
    none = machine.terms.none
    return machine.terms.make("slice", none, none, none)


def get_item(machine: Machine, holder: Term, key: Value) -> Value:
    """`d[key]`, `items[0]`."""
    if holder.kind == "dict":
        return _of_dict(machine, holder, key)
    inside = content(machine, holder)
    return lift(lambda items, place: _of_items(machine, holder, items, place), inside, key)


def _of_items(machine: Machine, holder: Term, items: Term, place: Term) -> Term:
    terms = machine.terms
    text = items.parts[0] if items.kind == "const" else None
    many = items.parts if items.kind == "tuple" else text if isinstance(text, str) else None
    unknown = terms.make("item", items if items.kind != "tuple" else holder, place)
    if many is None:
        return unknown
    if place.kind == "const" and isinstance(place.parts[0], int) and -len(many) <= place.parts[0] < len(many):
        part = many[place.parts[0]]
        return part if isinstance(part, Term) else terms.const(part)
    if place.kind != "slice" or not all(map(_is_bound, place.inner)):
        return unknown
    lower, upper, step = (_bound(part) for part in place.inner)
    if step == 0:
        return unknown
    taken = many[lower:upper:step]
    return terms.const(taken) if isinstance(taken, str) else terms.make("tuple", *taken)


def _is_bound(term: Term) -> bool:
    return term.kind == "const" and (term.parts[0] is None or isinstance(term.parts[0], int))


def _bound(term: Term) -> int | None:
    bound = term.parts[0]
    return bound if isinstance(bound, int) else None


def _of_dict(machine: Machine, holder: Term, key: Value) -> Value:
    """The value of a key; of one that is not known, any of all."""
    terms = machine.terms
    keys = machine.read((holder, KEYS))
    if isinstance(key, Term):
        found = machine.read((holder, key))
        if found is not None:
            return found
    elif isinstance(keys, Term) and keys.kind == "tuple" and {*key} <= {*keys.parts}:
        held_by = {each: machine.read((holder, each)) or terms.unset for each in {*key}}
        return joined([columns(held_by[each])[process] for process, each in enumerate(key)])
    if isinstance(keys, Term) and keys.kind == "tuple" and keys.parts:
        values = [machine.read((holder, each)) or terms.unset for each in keys.parts]
        return lift(lambda key, *parts: terms.make("any", key, *dict.fromkeys(parts)), key, *values)
    return lift(lambda part: terms.make("item", holder, part), key)
