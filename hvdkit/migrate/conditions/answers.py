"""What a row of the post-condition table answers: a state, a sentence, and the code that it is about.

Rows are answered from the rewritten text. An open one names lines of the file as it is, as findings do, and a
proven one those of the migrated file, since what proves it may have been written there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple, Protocol, Union, runtime_checkable

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.plan import Condition, Spot, State
from hvdkit.migrate.report.locations import lines_before, spot
from hvdkit.source.edits import address
from hvdkit.source.index.names import Names

MOST = 3  # places that a sentence names


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
    """at: what an open row is about, whose places take the place of {} in its sentence."""

    state: State
    detail: str
    at: tuple[Code, ...] = ()


def open_at(detail: str, at: Iterable[Code]) -> Answer:
    """What does not hold, or could not be shown to, with {} in the sentence for its places."""
    return Answer(State.OPEN, detail, tuple(at))


def row(before: Facts, name: str, answer: Answer, otherwise: Iterable[Code]) -> Condition:
    """The row of an answer. otherwise: where an open one is to be looked at that names no code.

    before: the facts of the files as they are.
    """
    if answer.state is not State.OPEN:
        return Condition(name, answer.state, answer.detail)
    spots = tuple(dict.fromkeys(_spot(before, *_at(code)) for code in answer.at or otherwise))
    named = _few(address(spot.path.name, spot.line, spot.cell) for spot in spots)
    return Condition(name, answer.state, answer.detail.replace("{}", named), spots)


def spot_before(before: Facts, code: Code) -> Spot:
    """The place of code of the rewritten text in the file as it is."""
    return _spot(before, *_at(code))


def where_it_was(before: Facts, code: Code) -> str:
    """`train.py:12`: the place of code of the rewritten text in the file as it is."""
    at = spot_before(before, code)
    return address(at.path.name, at.line, at.cell)


def places(found: Iterable[Code]) -> str:
    """`train.py:12, util.py:3 and 2 more`, in the migrated files."""
    return _few(names.place(node) for names, node in map(_at, found))


def _few(found: Iterable[str]) -> str:
    unique = list(dict.fromkeys(found))
    more = f" and {len(unique) - MOST} more" if len(unique) > MOST else ""
    return ", ".join(unique[:MOST]) + more


def _spot(before: Facts, after: Names, node: ast.AST) -> Spot:
    """Where code of the rewritten text is in the file as it is; what was written, where it was put."""
    names = before.project.files.get(after.source.path, after)
    if names is after:
        return spot(after.source, node)
    return spot(names.source, node, _lines(before, names, after))


@once
def _lines(before: Facts, names: Names, after: Names) -> list[int]:
    """For each line of a rewritten file, the line that it was."""
    return lines_before(names.source, after.source)


def _at(code: Code) -> tuple[Names, ast.AST]:
    return (code.names, code.node) if isinstance(code, Located) else code
