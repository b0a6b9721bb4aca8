"""Puts statements that share a line on lines of their own where an edit needs that: `if ddp: net = DDP(net)`.

The file is read anew from the unfolded text, which means the same to Python; all it tells of lines are the
file's own. A file that nothing else changes keeps its text, and a notebook's cells are left as they are.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit, apply_edits
from hvdkit.source.index.indexing import index
from hvdkit.source.index.names import Names
from hvdkit.source.read.source import Original, Source, parse

BETWEEN = re.compile(r"[ \t\f]*;[ \t\f]*")
BEHIND = re.compile(r"[ \t\f]*;(?=[ \t\f]*(?:#|\r|\n|$))")  # a semicolon that nothing follows
BLOCKS = ("body", "orelse", "finalbody")


def unfolded_files(files: Mapping[Path, Names], findings: Iterable[Finding]) -> dict[Path, Names]:
    """The files of the statements whose edits needed lines of their own, read anew with them."""
    sharing: dict[Path, set[ast.AST]] = defaultdict(set)
    for finding in findings:
        if finding.obstacle is not None and (place := finding.obstacle.unfold) is not None:
            sharing[place.path].add(place.node)
    fresh = {path: _unfolded(files[path].source, statements) for path, statements in sharing.items()}
    return {path: index(source) for path, source in fresh.items() if source is not None}


def _unfolded(source: Source, statements: set[ast.AST]) -> Source | None:
    """The file with some statements on lines of their own; None where that fails."""
    gaps = sorted(set(_gaps(source, statements)), key=lambda gap: gap.start)
    fresh = parse(source.path, source.encode(apply_edits(source.text, gaps))) if gaps else None
    if not isinstance(fresh, Source) or ast.dump(fresh.tree) != ast.dump(source.tree):
        return None
    parted = Counter(source.line_at(gap.start) for gap in gaps if gap.text)
    numbers = range(1, len(source.starts) + 1)
    own = [source.own_line(number) for number in numbers for _ in range(1 + parted[number])]
    fresh.original = Original(source.raw, own)
    return fresh


def _gaps(source: Source, statements: set[ast.AST]) -> Iterator[Edit]:
    """What stands around those statements on their lines, with line ends instead."""
    for node in ast.walk(source.tree):
        for field in BLOCKS:
            block = getattr(node, field, None)
            if isinstance(block, list) and not statements.isdisjoint(block):
                yield from _in_block(source, node, block, statements)


def _in_block(
    source: Source, node: ast.AST, block: list[ast.stmt], statements: set[ast.AST]
) -> Iterator[Edit]:
    start = source.start(block[0])
    above = source.text[source.starts[source.line_at(start) - 1] : start]
    inline = bool(above.strip())  # behind the header, and all of the block with it
    if inline:
        header = source.indent(getattr(getattr(node, "pattern", node), "lineno", 1))
        indent = header + source.unit_in(header)
        yield Edit(start - len(above) + len(above.rstrip()), start, source.newline + indent)
    else:
        indent = above
    for one, other in zip(block, block[1:]):
        gap = BETWEEN.fullmatch(source.text, source.end(one), source.start(other))
        if gap and (inline or one in statements or other in statements):
            yield Edit(gap.start(), gap.end(), source.newline + indent)
    for statement in (each for each in block if each in statements):
        behind = BEHIND.match(source.text, source.end(statement))
        if behind:
            yield Edit(behind.start(), behind.end(), "")
