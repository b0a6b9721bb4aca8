"""Random states: a term that says how a state came to be, for each library and each generator."""

from __future__ import annotations

import ast

from hvdkit.job.arguments import Arguments
from hvdkit.job.columns import Value, lift
from hvdkit.job.containers import ITEMS, held
from hvdkit.job.machine import Machine
from hvdkit.job.record import Drawn
from hvdkit.job.store import Key
from hvdkit.job.terms import Term
from hvdkit.library.effects import Draws, Seeds

STATE = ":state"


def state_key(library: str) -> Key:
    """Where the random state of a library is remembered."""
    return ("random state", library)


def start(machine: Machine) -> None:
    """At the start each process has its own random states."""
    for library in ("torch", "tensorflow", "numpy", "random"):
        machine.write(
            state_key(library), machine.own(f"the unseeded state of {library}", machine.frame.module.tree)
        )


def seed(machine: Machine, effect: Seeds, given: Arguments, site: ast.AST) -> Value:
    """`torch.manual_seed(number)`."""
    number = given.get(effect.place, effect.name)
    if number is None or number is machine.terms.none:
        number = machine.own("a random seed", site)
    for library in effect.states:
        machine.write(state_key(library), lift(lambda term: machine.terms.make("seeded", term), number))
    return number


def state_of(machine: Machine, key: Key, site: ast.AST) -> Value:
    """A random state as it is now."""
    return machine.read(key) or machine.own("the unseeded state", site)


def draw(machine: Machine, key: Key, site: ast.AST, *of: Value) -> Value:
    """What is drawn from a state, which moves on in the processes that draw."""
    state = state_of(machine, key, site)
    machine.write(key, machine.site("after", site, state))
    return machine.site("drawn", site, state, *of)


def draw_numbers(machine: Machine, key: Key, site: ast.AST, *of: Value) -> Value:
    """Draw what may become samples."""
    state = state_of(machine, key, site)
    value = draw(machine, key, site, *of)
    machine.record.drawn.append(Drawn(machine.place(site), value, state, machine.active))
    return value


def draw_by(machine: Machine, effect: Draws, given: Arguments, site: ast.AST) -> Value:
    """A function of a library that draws."""
    key = state_key(effect.state)
    own = given.named.get(effect.own) if effect.own else None
    own = next((each for each in given if _is_state(each)), own)
    if own is not None and own is not machine.terms.none:
        if _is_state(own):
            key = (own, STATE)
        else:
            key = ("random state", site)
            machine.write(key, lift(lambda term: machine.terms.make("seeded", term), own))
    if effect.orders:
        return draw_order(machine, key, given, site, effect.splits, effect.shuffles)
    return draw_numbers(machine, key, site, *given.positional)


def _is_state(value: Value) -> bool:
    """Whether a value is a generator with its own state."""
    return isinstance(value, Term) and value.kind == "made" and value.parts[0] == "state"


def draw_order(
    machine: Machine, key: Key, given: Arguments, site: ast.AST, splits: bool, shuffles: bool
) -> Value:
    """Draw what may decide which samples a rank has; shuffles: it reorders its first argument in place."""
    state = state_of(machine, key, site)
    value = draw(machine, key, site, *(held(machine, each) for each in given.positional))
    machine.record.drawn.append(
        Drawn(machine.place(site), value, state, machine.active, orders=True, splits=splits)
    )
    first = given.get(0)
    if shuffles and isinstance(first, Term) and first.kind == "list":
        machine.write((first, ITEMS), value)
    return value


def make_state(machine: Machine, made: Term, given: Arguments, site: ast.AST) -> None:
    """`torch.Generator()`, `numpy.random.RandomState(seed)`."""
    number = given.get(0, "seed")
    if number is None or site_is_device(number):
        number = machine.own("a random seed", site)
    machine.set_attribute(made, "entropy", number)
    machine.write((made, STATE), lift(lambda term: machine.terms.make("seeded", term), number))


def site_is_device(value: Value) -> bool:
    """Whether the argument of a generator is its device."""
    return isinstance(value, Term) and (value.kind != "const" or isinstance(value.parts[0], str))
