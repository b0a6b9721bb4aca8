"""How rules make findings: with edits, left to you, or such that the program is refused."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from hvdkit.migrate.catalog.left_out import is_left, left_out
from hvdkit.migrate.edits import Maker, attempt
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.programs.reached_code import of_one_process
from hvdkit.migrate.plan import WAITING, Applicability, Finding, Made, Obstacle
from hvdkit.source.index.names import Names


def safe(
    facts: Facts, rule: str, names: Names, node: ast.AST, message: str, make: Maker | Made, *args: Any
) -> Finding:
    """A finding that is carried out by make(*args); left to you where that raises CannotEdit.

    make: also what came of making the edits already, where a decision did.
    """
    return _finding(facts, rule, names, node, message, Applicability.SAFE, make, args)


def required(
    facts: Facts, rule: str, names: Names, node: ast.AST, message: str, make: Maker | Made, *args: Any
) -> Finding:
    """As `safe`, for what the result would be wrong without: the program is refused when make raises."""
    finding = _finding(facts, rule, names, node, message, Applicability.SAFE, make, args)
    if finding.obstacle:
        return replace(finding, applicability=Applicability.REFUSED)
    return replace(finding, required=True)


def suggested(
    facts: Facts, rule: str, names: Names, node: ast.AST, message: str, make: Maker | Made, *args: Any
) -> Finding:
    """A choice, which is carried out with --suggested."""
    return _finding(facts, rule, names, node, message, Applicability.SUGGESTED, make, args)


def needed(
    facts: Facts, rule: str, names: Names, node: ast.AST, message: str, make: Maker | Made, *args: Any
) -> Finding:
    """As `suggested`, for what the result is wrong without: left to you until then."""
    return _finding(facts, rule, names, node, message, Applicability.NEEDED, make, args)


def restored(
    facts: Facts, rule: str, names: Names, node: ast.AST, message: str, make: Maker | Made, *args: Any
) -> Finding:
    """What was right in the one process there was, and is wrong on several ranks without these edits.

    Safe where only programs of one process come to it; needed where the ranks of a distributed script do
    the same already.
    """
    make_finding = safe if of_one_process(facts, names) else needed
    return make_finding(facts, rule, names, node, message, make, *args)


def manual(rule: str, names: Names, node: ast.AST, message: str, advice: str) -> Finding:
    """A finding that is left to you, with what to write."""
    return Finding(rule, names.at(node), message, Applicability.MANUAL, advice=advice)


def refused(rule: str, names: Names, node: ast.AST, message: str, advice: str) -> Finding:
    """A finding for which the whole program is left as it was."""
    return Finding(rule, names.at(node), message, Applicability.REFUSED, advice=advice)


def _finding(
    facts: Facts,
    rule: str,
    names: Names,
    node: ast.AST,
    message: str,
    applicability: Applicability,
    make: Maker | Made,
    args: tuple[Any, ...],
) -> Finding:
    made = attempt(make, *args) if callable(make) else make
    if not isinstance(made, Obstacle):
        finding = Finding(rule, names.at(node), message, applicability, made)
        return left_out(names, finding) if made and is_left(facts, rule, names, node) else finding
    if made.unfold and applicability in WAITING and not facts.options.suggested:
        return Finding(rule, names.at(node), message, applicability)  # unfolded once it is carried out
    return Finding(rule, names.at(node), message, Applicability.MANUAL, advice=made.advice, obstacle=made)
