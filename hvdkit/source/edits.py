"""Places in files, and edits of their texts.

Nothing here reads or writes files.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import field
from enum import IntEnum
from pathlib import Path

from hvdkit.dataclass import dataclass


class Slot(IntEnum):
    """Which of several insertions at one place comes first; within a slot they keep the order of the rules.

    What ends above comes before what begins below: the end of an expression and what is added beside it, then
    lines of their own, then the header of a block around a statement, the note and the indentation that go
    under it, and last the beginning of the expression that the statement begins with.
    """

    CLOSING = 0  # behind an expression: `)`, ` // hvd.size()`
    ARGUMENT = 1  # an argument, parameter or element that is added beside another
    LINES = 2  # above or below a statement
    GUARD = 3  # `if hvd.rank() == 0:` around statements; neighbours under the same test share one
    BLOCK = 4  # another header around statements, as `with optimizer.skip_synchronize():`
    NOTE = 5  # a comment above a statement, inside of the blocks around it
    INDENT = 6  # what moves a line into a block
    OPENING = 7  # in front of an expression: `hvd.DistributedOptimizer(`


HEADERS = (Slot.GUARD, Slot.BLOCK)
OWN_LINES = (Slot.LINES, *HEADERS, Slot.NOTE)


@dataclass(frozen=True, order=True)
class Edit:
    """Replace text[start:end] (character offsets) by `text`; slot: of an insertion, among others there."""

    start: int
    end: int
    text: str
    slot: Slot = field(default=Slot.CLOSING, compare=False)

    @property
    def inserts(self) -> bool:
        """Whether nothing is taken away."""
        return self.start == self.end


def address(file: str, line: int, cell: int = 0) -> str:
    """A line as reports name it: `train.py:12`, and in a notebook `train.ipynb:cell 2:3`."""
    return f"{file}:cell {cell}:{line}" if cell else f"{file}:{line}"


@dataclass(frozen=True)
class Place:
    """Where code stands, the only address that is compared: a node of a file's tree.

    cell: the code cell of a notebook that holds it, counted from 1; 0 in a script.
    """

    path: Path
    cell: int
    node: ast.AST


class EditConflict(Exception):
    """Two edits want the same characters and neither contains the other."""


def merge(edits: Iterable[Edit]) -> list[Edit]:
    """Edits in order, those inside a larger one dropped. Raises EditConflict.

    Insertions at one place stand in the order of their slots, and within a slot in that of the rules.
    """
    kept: list[Edit] = []
    unique = list(dict.fromkeys(edits))
    for edit in sorted(unique, key=lambda edit: (edit.start, not edit.inserts, -edit.end, edit.slot)):
        if kept and edit.start < kept[-1].end:
            if edit.end <= kept[-1].end:
                continue
            raise EditConflict(f"{kept[-1]} and {edit}")
        kept.append(edit)
    return kept


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with merged edits carried out."""
    pieces: list[str] = []
    position = 0
    for edit in merge(edits):
        pieces += [text[position : edit.start], edit.text]
        position = edit.end
    return "".join((*pieces, text[position:]))
