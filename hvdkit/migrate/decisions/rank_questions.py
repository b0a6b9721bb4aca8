"""Where code that is written asks for the rank, in programs that had none: Horovod has to run by then."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.index.names import Names
from hvdkit.migrate.plan import Applicability, Finding


@dataclass(frozen=True)
class RankQuestion:
    """A statement that asks for its rank, or talks to other ranks, once the edits are made."""

    names: Names
    statement: ast.stmt


def rank_questions(facts: Facts, findings: Iterable[Finding]) -> list[RankQuestion]:
    """The questions in what this run writes, in the order of files and lines."""
    places = {finding.place for finding in findings if finding.asks_rank and _is_written(facts, finding)}
    files = {place.path: facts.project.files[place.path] for place in places}
    asked = {RankQuestion(files[each.path], files[each.path].statement(each.node)) for each in places}
    return sorted(asked, key=_order)


def _is_written(facts: Facts, finding: Finding) -> bool:
    chosen = finding.applicability is Applicability.SAFE or facts.options.suggested
    return bool(finding.edits) and chosen


def _order(question: RankQuestion) -> tuple[str, int]:
    source = question.names.source
    return str(source.path), source.start(question.statement)
