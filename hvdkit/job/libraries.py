"""Calls of libraries: what the tables of hvdkit.library say, carried out."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Iterable, Iterator
from typing import Any, Callable

from hvdkit.job.arguments import Arguments
from hvdkit.job.builtins import BUILTINS
from hvdkit.job.columns import RANKS, Value, columns, joined, lift
from hvdkit.job.computed import apply
from hvdkit.job.containers import ITEMS, elements, get_item, held, new
from hvdkit.job.machine import Machine
from hvdkit.job.names import assign
from hvdkit.job.operators import is_short
from hvdkit.job.processes import NUMBERS, number, variable
from hvdkit.job.randomness import draw, draw_by, make_state, seed, state_key
from hvdkit.job.record import Read
from hvdkit.job.terms import Term
from hvdkit.job.training import (
    AVERAGES,
    CLASS,
    average_by,
    from_root,
    make,
    meet,
    send_weights,
    set_weights,
    share,
    statistics,
)
from hvdkit.job.writing import is_writing, write_file
from hvdkit.library import effect
from hvdkit.library.effects import (
    Asks,
    Compiles,
    Computes,
    Cuts,
    Differs,
    Draws,
    Ends,
    Fills,
    Joins,
    Makes,
    Pure,
    Reads,
    Runs,
    Seeds,
    Sends,
    Wraps,
    Writes,
    WritesNamed,
)

COMPUTING = {"math": math, "operator": operator}
PLACES = ("device", "map_location")  # parameters that say where something is put: values are the same there
CALLED = ("function", "bound", "partial")  # what a library may call that it is given


def call_library(machine: Machine, term: Term, given: Arguments, site: ast.AST) -> Value:
    """Call a function or class of a library, or a builtin."""
    name = str(term.parts[0])
    builtin = BUILTINS.get(name)
    if builtin is not None:
        give(machine, given.named.values())
        return builtin(machine, given, site)
    give(machine, given)
    if name in ("os.environ.get", "os.getenv"):
        return variable(machine, given.positional[0], given.get(1, "default")) if given.positional else term
    if name == "functools.wraps":
        return machine.terms.make("decorator")
    found = effect(name)
    if found is None:
        return unknown(machine, term, given, site)
    return _EFFECTS[type(found)](machine, found, term, given, site)


def give(machine: Machine, values: Iterable[Value]) -> None:
    """Remember what a library was given, which it may call."""
    for value in values:
        machine.given.update(columns(value))


def decorate(machine: Machine, term: Term, given: Arguments, site: ast.AST) -> Value:
    """Call what only gives a function another name: `functools.wraps(f)(g)`."""
    return given.get(0) or machine.terms.none


def unknown(machine: Machine, term: Term, given: Arguments, site: ast.AST) -> Value:
    """A call that no table has: a term of its arguments. What it is given it may call."""
    machine.risks += 1
    machine.given.add(term)
    for value in given:
        machine.record.handed.update(columns(value))
        if isinstance(value, Term) and value.kind in CALLED:
            with machine.maybe(site, "called", value):
                machine.call(value, Arguments([], more=True), site)
    for acting, inner in _acting(given):  # given away together with its arguments: it is called
        machine.call(acting, inner, site)
    return machine.site("call", site, term, *contents(machine, given))


def _acting(given: Arguments) -> Iterator[tuple[Term, Arguments]]:
    """Functions of libraries that write or send, and what they are called with.

    `pool.submit(torch.save, state, path)`, `Thread(target=torch.save, args=(state, path))`.
    """
    for place, value in enumerate(given.positional):
        if isinstance(value, Term) and _acts(value):
            yield value, Arguments(given.positional[place + 1 :], given.named, given.more)
    passed = given.named.get("args")
    inner = [*passed.inner] if isinstance(passed, Term) and passed.kind == "tuple" else []
    for value in given.named.values():
        if isinstance(value, Term) and _acts(value):
            yield value, Arguments([*inner])


def _acts(term: Term) -> bool:
    return term.kind == "library" and isinstance(effect(str(term.parts[0])), (Writes, Sends))


def call_made(machine: Machine, term: Term, given: Arguments, site: ast.AST) -> Value:
    """Call an object of a library: of a model, its forward pass, which its statistics are a part of."""
    found = unknown(machine, term, given, site)
    seen = statistics(machine, term)
    return machine.site("call", site, found, *seen) if seen else found


def _draws(machine: Machine, found: Draws, term: Term, given: Arguments, site: ast.AST) -> Value:
    return draw_by(machine, found, given, site)


def _fills(machine: Machine, found: Fills, term: Term, given: Arguments, site: ast.AST) -> Value:
    value = draw(machine, state_key("torch"), site)
    for each in {*columns(given.get(0, "tensor") or machine.terms.none)}:
        set_weights(machine, each, value, site)
    return value


def _seeds(machine: Machine, found: Seeds, term: Term, given: Arguments, site: ast.AST) -> Value:
    return seed(machine, found, given, site)


def _makes(machine: Machine, found: Makes, term: Term, given: Arguments, site: ast.AST) -> Value:
    if found.kind == "sent":
        model = given.get(0, "module") or machine.terms.none
        for each in {*columns(model)}:
            send_weights(machine, each)
            machine.set_attribute(each, AVERAGES, machine.terms.true)
        meet(machine, "weights", site)
        return model
    if found.kind == "share":
        return machine.each(given.get(0) or machine.terms.none, lambda loader: share(machine, loader, site))
    made = make(machine, found.kind, given, site, found.state)
    machine.write((made, CLASS), term)
    if found.kind == "state":
        make_state(machine, made, given, site)
    return made


def _asks(machine: Machine, found: Asks, term: Term, given: Arguments, site: ast.AST) -> Value:
    return number(machine, found.what)


def _differs(machine: Machine, found: Differs, term: Term, given: Arguments, site: ast.AST) -> Value:
    return machine.own(found.what, site, *(NUMBERS["cross_rank"] if found.by_host else ()))


def _writes(machine: Machine, found: Writes, term: Term, given: Arguments, site: ast.AST) -> Value:
    path = given.get(found.place, found.name)
    if path is not None and (found.mode < 0 or is_writing(given.get(found.mode, "mode"))):
        write_file(machine, path, site)
    machine.risks += 1
    return machine.site("call", site, term, *given)


def _writes_named(machine: Machine, found: WritesNamed, term: Term, given: Arguments, site: ast.AST) -> Value:
    seen: set[Term] = set()
    waiting = [*given]
    while waiting:
        value = waiting.pop()
        if not isinstance(value, Term) or value.kind not in ("dict", "list", "tuple") or value in seen:
            continue
        seen.add(value)
        for item, _ in elements(machine, value) or ():
            inside = get_item(machine, value, item) if value.kind == "dict" else item
            waiting.append(inside)
            if value.kind == "dict" and item is machine.terms.const(found.key):
                write_file(machine, inside, site)
    return unknown(machine, term, given, site)


def _sends(machine: Machine, found: Sends, term: Term, given: Arguments, site: ast.AST) -> Value:
    name = str(term.parts[0]).rpartition(".")[2]
    meet(machine, name, site)
    first = given.get(0) or machine.terms.none
    if found.weights:
        for each in {term for value in given for term in columns(value)}:
            send_weights(machine, each)
        return _received(machine, first, site)
    if found.gives == "nothing":
        return machine.terms.none
    if found.gives == "own":
        return machine.site("call", site, term, *given)
    agreed = _received(machine, first, site) if found.gives == "root" else _agreed(machine, site, first)
    if found.in_place and given.nodes and not isinstance(given.nodes[0], ast.Starred):
        _put_back(machine, given.nodes[0], agreed)
    return agreed


def _received(machine: Machine, value: Value, site: ast.AST) -> Value:
    """What the root sends: of a list, one that holds what the root's does."""
    if not isinstance(value, Term) or value.kind not in ("list", "set"):
        return from_root(value)
    made = new(machine, value.kind, site)
    machine.write((made, ITEMS), from_root(held(machine, value)))
    return made


def _agreed(machine: Machine, site: ast.AST, value: Value) -> Value:
    """What ranks find together: a term of all that they give."""
    ranks = [columns(value)[rank] for rank in RANKS]
    return machine.site("agreed", site, *dict.fromkeys(ranks))


def _put_back(machine: Machine, node: ast.expr, value: Value) -> None:
    """Write where an argument came from."""
    while isinstance(node, ast.Attribute) and node.attr in ("data", "grad"):
        node = node.value
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        assign(machine, node, value)


def _reads(machine: Machine, found: Reads, term: Term, given: Arguments, site: ast.AST) -> Value:
    machine.risks += 1
    path = given.get(0)
    if path is not None:
        machine.record.read.append(Read(machine.place(site), path, machine.active))
    return machine.site("call", site, term, *contents(machine, Arguments(given.positional[:1])))


def _wraps(machine: Machine, found: Wraps, term: Term, given: Arguments, site: ast.AST) -> Value:
    value = given.get(found.place, found.name)
    if value is None:
        return machine.site("call", site, term, *given)
    if found.averages:
        average_by(machine, value)
    return held(machine, value) if found.copies else value


def _compiles(machine: Machine, found: Compiles, term: Term, given: Arguments, site: ast.AST) -> Value:
    by_xla = given.named.get(found.option) is machine.terms.true
    function = given.get(0, found.name)
    if function is None:
        return machine.terms.make("compiler", by_xla)
    return compile_by(machine, function, by_xla)


def compile_by(machine: Machine, function: Value, by_xla: bool) -> Value:
    """A function that is compiled, which does what it did."""
    if by_xla:
        machine.by_xla.update(part.parts[0] for part in columns(function) if part.kind == "function")
    return function


def compile_later(machine: Machine, term: Term, given: Arguments, site: ast.AST) -> Value:
    """Call what compiles the function that it is given: `tf.function(jit_compile=True)(f)`."""
    return compile_by(machine, given.get(0) or machine.terms.none, bool(term.parts[0]))


def _pure(machine: Machine, found: Pure, term: Term, given: Arguments, site: ast.AST) -> Value:
    values = [] if found.place else contents(machine, given)
    if values:
        return lift(lambda *parts: machine.terms.make("call", term, term, *parts), *values)
    return machine.terms.make("call", term, term)


def contents(machine: Machine, given: Arguments) -> list[Value]:
    """Arguments as a library reads them: of a container what it holds now; not where a value is put."""
    named = (value for name, value in given.named.items() if name not in PLACES)
    return [held(machine, value) for value in (*given.positional, *named)]


def _cuts(machine: Machine, found: Cuts, term: Term, given: Arguments, site: ast.AST) -> Value:
    if len(given.positional) != 2:
        return _pure(machine, Pure(), term, given, site)
    whole, count = contents(machine, given)[:2]
    return lift(lambda *parts: machine.terms.make("pieces", *parts), whole, count)


def _computes(machine: Machine, found: Computes, term: Term, given: Arguments, site: ast.AST) -> Value:
    module, _, name = str(term.parts[0]).rpartition(".")
    function = getattr(COMPUTING[module], name, None)

    def of(*terms: Term) -> Term:
        if function is not None and not given.named and is_short(*(part.parts[0] for part in terms)):
            result = apply(machine, function, *terms)
            if result is not None and isinstance(result.parts[0], (bool, int, float, str)):
                return result
        return machine.terms.make("call", term, term, *terms)

    values = contents(machine, given)
    return lift(of, *values) if values else of()


def _ends(machine: Machine, found: Ends, term: Term, given: Arguments, site: ast.AST) -> Value:
    machine.stop()
    return machine.terms.none


def _runs(machine: Machine, found: Runs, term: Term, given: Arguments, site: ast.AST) -> Value:
    if not given.positional:
        return machine.terms.none
    function, inner = given.positional[0], given.positional[1:]
    if found.ranks:
        passed = given.get(1, "args")
        inner = [*passed.inner] if isinstance(passed, Term) and passed.kind == "tuple" else []
        inner = [number(machine, "rank"), *inner]
    return machine.call(function, Arguments(inner), site)


def _joins(machine: Machine, found: Joins, term: Term, given: Arguments, site: ast.AST) -> Value:
    for word in site.keywords if isinstance(site, ast.Call) else ():
        value = given.named.get(word.arg or "")
        if word.arg in found.numbers and isinstance(value, Term) and value.kind != "const":
            ranks = columns(number(machine, found.numbers[word.arg]))[RANKS[0] :]
            _put_back(machine, word.value, joined([value, *ranks]))
    for holder in columns(given.get(0) or machine.terms.none) if found.sets else ():
        for name, what in found.sets.items():
            machine.set_attribute(holder, name, number(machine, what))
    return unknown(machine, term, given, site) if found.sets else machine.terms.none


_EFFECTS: dict[type, Callable[[Machine, Any, Term, Arguments, ast.AST], Value]] = {
    Draws: _draws,
    Fills: _fills,
    Seeds: _seeds,
    Makes: _makes,
    Asks: _asks,
    Differs: _differs,
    Writes: _writes,
    WritesNamed: _writes_named,
    Sends: _sends,
    Reads: _reads,
    Wraps: _wraps,
    Cuts: _cuts,
    Compiles: _compiles,
    Pure: _pure,
    Computes: _computes,
    Ends: _ends,
    Runs: _runs,
    Joins: _joins,
}
