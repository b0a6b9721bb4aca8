"""Blocks that rules put around neighbours become one, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate import edits
from hvdkit.migrate.edits.joining import joined
from hvdkit.source.edits import Edit
from hvdkit.source.read.source import Source, parse

ON_0, LOCALLY = "hvd.rank() == 0", "hvd.local_rank() == 0"


def source_of(text: str) -> Source:
    source = parse(Path("train.py"), text.encode())
    assert isinstance(source, Source)
    return source


def guarded(text: str, *conditions: str, more: tuple[Edit, ...] = ()) -> str:
    """Each statement of a text under a condition of its own, and what joining makes of it."""
    source = source_of(text)
    guards = [
        edit
        for statement, condition in zip(source.tree.body, conditions)
        for edit in edits.guard(source, [statement], condition)
    ]
    return source.rewritten(joined(source, [*guards, *more]))


def test_neighbours_stand_under_one_header() -> None:
    assert guarded("a()\nb()\nc()\n", ON_0, ON_0, ON_0) == f"if {ON_0}:\n    a()\n    b()\n    c()\n"


def test_what_goes_over_several_lines() -> None:
    assert guarded("a(\n    1)\nb()\n", ON_0, ON_0) == f"if {ON_0}:\n    a(\n        1)\n    b()\n"


@pytest.mark.parametrize(
    ("text", "conditions"),
    [("a()\nb()\n", (ON_0, LOCALLY)), ("a()\n\nb()\n", (ON_0, ON_0)), ("a()\n# of b\nb()\n", (ON_0, ON_0))],
    ids=["another condition", "a blank line", "a comment"],
)
def test_what_stays_apart(text: str, conditions: tuple[str, ...]) -> None:
    assert guarded(text, *conditions).count("if ") == 2


def test_a_statement_that_all_ranks_run_stands_between() -> None:
    source = source_of("a()\nb()\nc()\n")
    first, _, last = source.tree.body
    guards = [*edits.guard(source, [first], ON_0), *edits.guard(source, [last], ON_0)]
    assert source.rewritten(joined(source, guards)).count("if ") == 2


def test_lines_that_are_put_between() -> None:
    source = source_of("a()\nb()\n")
    barrier = edits.after(source, source.tree.body[0], ["hvd.barrier()"])
    after = guarded("a()\nb()\n", ON_0, ON_0, more=(barrier,))
    assert after == f"if {ON_0}:\n    a()\nhvd.barrier()\nif {ON_0}:\n    b()\n"
