"""What a row of the post-condition table answers: a state, a sentence, and the code that it is about."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple, Protocol, Union, runtime_checkable

from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Condition, State
from hvdkit.migrate.report.locations import spot


@runtime_checkable
class Located(Protocol):
    """A fact that knows its place."""

    @property
    def names(self) -> Names:
        """The file."""

    @property
    def node(self) -> ast.AST:
        """The code."""


Code = Union[Located, tuple[Names, ast.AST], tuple[Names, ast.Call]]


class Answer(NamedTuple):
    """at: what an open row is about; the code that trains where that is not known, or where it is missing."""

    state: State
    detail: str
    at: Iterable[Code] = ()


def open_at(detail: str, at: Iterable[Code]) -> Answer:
    """What does not hold, or could not be shown to, with {} in the sentence for its places."""
    found = list(at)
    return Answer(State.OPEN, detail.format(places(found)), found)


def row(name: str, answer: Answer, otherwise: Iterable[Code]) -> Condition:
    """The row of an answer. otherwise: where an open one is to be looked at that names no code."""
    if answer.state is not State.OPEN:
        return Condition(name, answer.state, answer.detail)
    asked = [_at(code) for code in answer.at] or [_at(code) for code in otherwise]
    spots = [spot(names.source, node) for names, node in asked]
    return Condition(name, answer.state, answer.detail, tuple(dict.fromkeys(spots)))


def places(found: Iterable[Code], most: int = 3) -> str:
    """`train.py:12, util.py:3 and 2 more`."""
    unique = list(dict.fromkeys(names.place(node) for names, node in map(_at, found)))
    more = f" and {len(unique) - most} more" if len(unique) > most else ""
    return ", ".join(unique[:most]) + more


def _at(code: Code) -> tuple[Names, ast.AST]:
    return (code.names, code.node) if isinstance(code, Located) else code
