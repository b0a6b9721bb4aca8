"""Facts of a whole project that several rules and every program's table ask for, looked up once."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Callable, TypeVar

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts

T = TypeVar("T")


def once(look: Callable[[Facts], T]) -> Callable[[Facts], T]:
    """Keep what a function of the facts alone was answered, with those facts."""

    @wraps(look)
    def ask(facts: Facts) -> T:
        if look not in facts.answers:
            facts.answers[look] = look(facts)
        found: T = facts.answers[look]
        return found

    return ask
