"""Every expression inside an f-string is found where it stands, whatever Python says."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from hvdkit.migrate.edits import CannotEdit, replace
from hvdkit.source.read.fstrings import relocate
from hvdkit.source.read.source import Source, parse

STRINGS = [
    'f"rank {rank()} of {size()}"',
    '"plain {x} " f"rank = {rank()}, " + f"size = {size()} \\n"',
    '(f"[{getpid()}] a"\n    + f"b = {rank()}, "\n    f"c = {size()}")',
    'f"""\nfirst {rank()}\n  second {size():>{width}} {value!r:^10}\n"""',
    "f'{rank()=} {names[\"a\"]} {{not}} {size() != 1}'",
    'rf"\\d{rank()}" F"ä{größe()} é {rank()}"',
    "f\"{f'{rank()}'} {x if y else z} {(lambda: 1)()} {d['k']:{w}.{p}}\"",
    'print(f"{rank()}", f"{size()}")',
    'f"{ rank( ) }{a:%Y-%m-%d}{ {1: 2}[1] }"',
]


@pytest.mark.parametrize("text", STRINGS)
@pytest.mark.parametrize("before", ["", "ä = 'é'; "])
def test_segments_are_the_expressions(text: str, before: str) -> None:
    source = parse(Path("x.py"), f"{before}y = {text}\n".encode())
    assert isinstance(source, Source)
    values = [node.value for node in ast.walk(source.tree) if isinstance(node, ast.FormattedValue)]
    assert values
    for value in values:
        for node in ast.walk(value):
            if isinstance(node, ast.expr) and not isinstance(source_parent(value, node), ast.JoinedStr):
                found = ast.parse(f"({source.segment(node)})", mode="eval").body
                assert ast.dump(found) == ast.dump(node), source.segment(node)


# From Python 3.12 on the tokenizer takes f-strings apart. relocate(), for 3.9 alone, reads them whole.
if sys.version_info < (3, 12):

    @pytest.mark.parametrize("text", STRINGS)
    def test_relocate_finds_every_place_by_itself(text: str) -> None:
        source = parse(Path("x.py"), f"ä = 'é'; y = {text}\n".encode())
        assert isinstance(source, Source)
        inside = [
            (node, source.segment(node))
            for field in ast.walk(source.tree)
            if isinstance(field, ast.FormattedValue)
            for node in ast.walk(field.value)
            if isinstance(node, ast.expr)
        ]
        for node, _ in inside:
            node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = 1, 0, 1, 1
        relocate(source.tree, source.text, source.offset, source.position)
        assert [(source.segment(node), getattr(node, "unplaced", False)) for node, _ in inside] == [
            (segment, False) for _, segment in inside
        ]


def test_what_cannot_be_placed_is_not_edited() -> None:
    source = parse(Path("x.py"), b'y = f"{rank()}"\n')
    assert isinstance(source, Source)
    string = next(node for node in ast.walk(source.tree) if isinstance(node, ast.JoinedStr))
    string.col_offset += 2  # a string that is not where the tree says
    relocate(source.tree, source.text, source.offset, source.position)
    call = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Call))
    with pytest.raises(CannotEdit, match="f-string"):
        replace(source, call, "hvd.rank()")


def source_parent(root: ast.AST, node: ast.AST) -> ast.AST | None:
    """The node around one; parts of an inner f-string have no text of their own to compare."""
    for parent in ast.walk(root):
        if node in ast.iter_child_nodes(parent):
            return parent
    return None
