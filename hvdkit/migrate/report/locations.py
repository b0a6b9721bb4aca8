"""Where people find what a rule found: lines and columns, in the file itself or in a notebook's cell."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from hvdkit.migrate.plan import Finding, Reported, Spot
from hvdkit.migrate.source import Source


def reported(source: Source, findings: Iterable[Finding]) -> tuple[Reported, ...]:
    """The findings of a file, each once, with the lines and columns that they begin at."""
    return tuple(dict.fromkeys(_reported(source, finding) for finding in findings))


def spot(source: Source, node: ast.AST) -> Spot:
    """The line of a file, or of a notebook's cell, that a node begins in."""
    cell, line = source.cell_line(getattr(node, "lineno", 1))
    return Spot(source.path, line, cell)


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
