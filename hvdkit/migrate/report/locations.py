"""Where people find what a rule found: lines and columns, in the file itself or in a notebook's cell."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from hvdkit.migrate.plan import Finding, Reported, Spot
from hvdkit.source.read.source import Source


def reported(source: Source, findings: Iterable[Finding]) -> tuple[Reported, ...]:
    """The findings of a file, each once, with the lines and columns that they begin at."""
    return tuple(dict.fromkeys(_reported(source, finding) for finding in findings))


def spot(source: Source, node: ast.AST, before: Sequence[int] = ()) -> Spot:
    """The line of a file, or of a notebook's cell, that a node begins in.

    before: for a node of a rewritten text, lines_before() of it.
    """
    number = getattr(node, "lineno", 1)
    cell, line = source.cell_line(before[number - 1] if before else number)
    return Spot(source.path, line, cell)


def lines_before(source: Source, rewritten: Source) -> list[int]:
    """For each line of a rewritten text, the line that it was, or that it was put at."""
    old, new = (
        [each.line(number) for number in range(1, len(each.starts) + 1)] for each in (source, rewritten)
    )
    found: list[int] = []
    for _, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        highest = min(max(start, end - 1), len(old) - 1)
        found += [min(start + number, highest) + 1 for number in range(last - first)]
    return found


def _reported(source: Source, finding: Finding) -> Reported:
    node = finding.place.node
    number = getattr(node, "lineno", 1)
    start = source.offset(number, getattr(node, "col_offset", 0))
    return Reported(
        finding.rule,
        finding.place.path,
        finding.place.cell,
        spot(source, node).line,
        start - source.starts[number - 1] + 1,
        finding.message,
        finding.applicability,
        finding.edits,
        finding.advice,
    )
