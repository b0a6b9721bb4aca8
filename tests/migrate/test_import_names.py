"""Every name of an import is found where it is, whatever Python says."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from hvdkit.source.read import import_names
from hvdkit.source.read.source import Source, parse

STATEMENTS = {
    "import os": ["os"],
    "import torch.nn as nn, torch.distributed": ["torch.nn as nn", "torch.distributed"],
    "from torch import *": ["*"],
    "from .imports import imported": ["imported"],
    "from a import (  # b, c\n    größe as g,\r\n    h,  # i\n)": ["größe as g", "h"],
    "from a import b, \\\n    c as d": ["b", "c as d"],
    "import a . b": ["a . b"],
}


@pytest.mark.parametrize(("statement", "expected"), STATEMENTS.items())
@pytest.mark.parametrize("before", ["", "ä = 'é'; "])
def test_a_name_is_where_it_is_written(statement: str, expected: list[str], before: str) -> None:
    source = parse(Path("x.py"), f"{before}{statement}\n".encode())
    assert isinstance(source, Source)
    aliases = [node for node in ast.walk(source.tree) if isinstance(node, ast.alias)]
    assert [source.segment(alias) for alias in aliases] == expected
    # The same by our own scan, which parse() needs on Python 3.9 alone.
    for alias in aliases:
        alias.lineno = alias.col_offset = alias.end_lineno = alias.end_col_offset = 0
    import_names.place(source.tree, source.text, source.offset, source.position)
    assert [source.segment(alias) for alias in aliases] == expected
