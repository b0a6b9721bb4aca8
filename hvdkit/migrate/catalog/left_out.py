"""What the person leaves out of a migration, by `hvdkit migrate --interactive`: the finding is left to you.

A marker above the statement keeps it so in later runs, and in the proof that a second run changes nothing.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from hvdkit.migrate import edits
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.options import Left
from hvdkit.migrate.plan import Applicability, Finding, Obstacle, todo
from hvdkit.source.edits import Slot
from hvdkit.source.index.names import Names

LEFT = Obstacle("you left it as it is")
MARKED = "you left this as it is; hvdkit migrate rewrites it once this TODO is removed"
# How ranks start, and what averages their gradients: half of it is no program. See Finding.required, too.
WHOLE = ("HVD101", "HVD106", "HVD110", "HVD113", "HVD114", "HVD201", "HVD202", "HVD203", "HVD207")


def key(rule: str, names: Names, node: ast.AST) -> Left:
    """How options name a rule's change at a node."""
    source = names.source
    line = source.own_line(source.line_at(source.start(names.statement(node))))
    return Left(source.path, line, rule)


def is_left(facts: Facts, rule: str, names: Names, node: ast.AST) -> bool:
    """Whether the person leaves a rule's change at a node out: in this run, or in one before."""
    if facts.options.left and key(rule, names, node) in facts.options.left:
        return True
    return todo(rule, MARKED) in names.source.comments_above(names.statement(node))


def left_out(names: Names, finding: Finding) -> Finding:
    """The finding without its edits, left to you; the program is refused where it is half of one without."""
    statement = names.statement(finding.place.node)
    marked = edits.attempt(edits.before, names.source, statement, [todo(finding.rule, MARKED)], Slot.NOTE)
    # A marker that has no line of its own would not be found again: see Obstacle.unfold.
    refused = is_whole(finding) or isinstance(marked, Obstacle)
    return replace(
        finding,
        message=f"left as it is: {finding.message}",
        applicability=Applicability.REFUSED if refused else Applicability.MANUAL,
        edits=(),
        advice="you left this as it is" if refused else MARKED,
        obstacle=marked if isinstance(marked, Obstacle) and marked.unfold else LEFT,
    )


def is_whole(finding: Finding) -> bool:
    """Whether a finding is carried out with all others of its program that are so, or none of them is."""
    return finding.required or finding.rule in WHOLE
