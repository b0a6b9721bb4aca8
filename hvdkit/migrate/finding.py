"""How rules make findings: with edits, left to the person, or such that the program is refused."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Callable, Union

from hvdkit.migrate import edits as edit
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import WAITING, Applicability, Edit, Finding

# What makes the edits of a finding: a verb of hvdkit.migrate.edits, or a rule's own function.
Maker = Callable[..., Union[Edit, Iterable[Edit]]]

NOT_REWRITTEN = "not rewritten because"  # how the advice begins where an edit cannot be made


@once
def lines_to_part(facts: Facts) -> list[edit.SharesLine]:
    """What kept edits from being made that would be carried out: statements that share a line."""
    return []


def safe(
    facts: Facts, rule: str, names: Names, node: ast.AST, message: str, make: Maker, *args: Any
) -> Finding:
    """A finding that is carried out by make(*args); left to the person when that raises CannotEdit."""
    return _finding(facts, rule, names, node, message, Applicability.SAFE, make, args)


def required(
    facts: Facts, rule: str, names: Names, node: ast.AST, message: str, make: Maker, *args: Any
) -> Finding:
    """As `safe`, for what the result would be wrong without: the program is refused when make raises."""
    finding = _finding(facts, rule, names, node, message, Applicability.SAFE, make, args)
    if finding.applicability is Applicability.SAFE:
        return finding
    return replace(finding, applicability=Applicability.REFUSED)


def suggested(
    facts: Facts, rule: str, names: Names, node: ast.AST, message: str, make: Maker, *args: Any
) -> Finding:
    """A choice, which is carried out with --suggested."""
    return _finding(facts, rule, names, node, message, Applicability.SUGGESTED, make, args)


def needed(
    facts: Facts, rule: str, names: Names, node: ast.AST, message: str, make: Maker, *args: Any
) -> Finding:
    """As `suggested`, for what the result is wrong without: left to the person until then."""
    return _finding(facts, rule, names, node, message, Applicability.NEEDED, make, args)


def manual(rule: str, names: Names, node: ast.AST, message: str, advice: str) -> Finding:
    """A finding that is left to the person, with what to write."""
    return _at(rule, names, node, message, Applicability.MANUAL, (), advice)


def refused(rule: str, names: Names, node: ast.AST, message: str, advice: str) -> Finding:
    """A finding for which the whole program is left as it was."""
    return _at(rule, names, node, message, Applicability.REFUSED, (), advice)


def _finding(
    facts: Facts,
    rule: str,
    names: Names,
    node: ast.AST,
    message: str,
    applicability: Applicability,
    make: Maker,
    args: tuple[Any, ...],
) -> Finding:
    try:
        result = make(*args)
    except edit.CannotEdit as error:
        if isinstance(error, edit.SharesLine) and error.unfolds:
            if applicability in WAITING and not facts.options.suggested:
                return _at(rule, names, node, message, applicability, (), "")
            lines_to_part(facts).append(error)
        advice = f"{NOT_REWRITTEN} {error}; put it on lines of its own, or make the edit by hand"
        return _at(rule, names, node, message, Applicability.MANUAL, (), advice)
    made = (result,) if isinstance(result, Edit) else tuple(result)
    return _at(rule, names, node, message, applicability, made, "")


def _at(
    rule: str,
    names: Names,
    node: ast.AST,
    message: str,
    applicability: Applicability,
    edits: tuple[Edit, ...],
    advice: str,
) -> Finding:
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    cell, inside = names.source.cell_line(line)
    path = names.source.path
    return Finding(rule, path, inside, column + 1, message, applicability, edits, advice, cell, line)
