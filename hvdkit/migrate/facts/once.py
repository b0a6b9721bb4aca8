"""Facts that several rules and every program's table ask for, each looked up once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import wraps
from typing import TYPE_CHECKING, Callable, TypeVar

from hvdkit.migrate.facts.facts import Facts

if TYPE_CHECKING:
    from typing import Concatenate, ParamSpec  # novm

    P = ParamSpec("P")

T = TypeVar("T")


def once(look: Callable[Concatenate[Facts, P], T]) -> Callable[Concatenate[Facts, P], T]:
    """Keep what a function of facts, and of what it is asked about, was answered, with those facts."""

    @wraps(look)
    def ask(facts: Facts, /, *about: P.args, **named: P.kwargs) -> T:
        return facts.ask(look, *about, **named)

    return ask


def once_all(look: Callable[Concatenate[Facts, P], Iterator[T]]) -> Callable[Concatenate[Facts, P], list[T]]:
    """The same of a generator: everything that it yields, in a list."""

    @wraps(look)
    def every(facts: Facts, /, *about: P.args, **named: P.kwargs) -> list[T]:
        return [*look(facts, *about, **named)]

    return once(every)
